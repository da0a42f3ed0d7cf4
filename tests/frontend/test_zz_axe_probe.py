import json
from pathlib import Path

import pytest

from tests.frontend.test_browser import browser, pages_of, signed_in  # noqa: F401

AXE = Path("/tmp/e-axe/site/axe_core_python/axe.min.js")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_axe(browser, live_server, site, owner, scheme, width):  # noqa: F811
    page = signed_in(browser, live_server, owner, color_scheme=scheme, viewport={"width": width, "height": 900})
    found = []
    for name, address in {**pages_of(site), "missing": "/nothing/"}.items():
        page.goto(address)
        page.evaluate(AXE.read_text())
        result = page.evaluate("axe.run()")
        for v in result["violations"]:
            found.append(
                (
                    name,
                    v["id"],
                    v["impact"],
                    [n["html"][:110] for n in v["nodes"]][:3],
                    v["nodes"][0]["failureSummary"][:200],
                )
            )
    page.context.close()
    Path(f"/tmp/e-axe/{scheme}-{width}.json").write_text(json.dumps(found, indent=1))
    assert found == []
