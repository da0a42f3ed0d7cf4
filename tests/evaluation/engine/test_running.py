"""Evaluations run by a real worker, over HTTP, against PostgreSQL and a broker; killed, cancelled and resumed."""

from collections import Counter
from decimal import Decimal

from django.db.models import Count

from evaluation import pricing
from evaluation.engine import lifecycle
from evaluation.engine.ledger import Ledger
from evaluation.models import (
    Estimate,
    Evaluation,
    EvaluationStatus,
    Metric,
    Outcome,
    Round,
    StopReason,
    Trial,
)
from tests.conftest import ModelApi, Workers, wait_for
from tests.evaluation.conftest import Register, a_configuration, a_suite, sums


def ended(evaluation: Evaluation) -> bool:
    """Whether it no longer runs and its worker has written down what was in flight."""
    evaluation.refresh_from_db()
    running = evaluation.status in (EvaluationStatus.RUNNING, EvaluationStatus.REGISTERED)
    return not running and not evaluation.leases.exists()


def run_to_end(evaluation: Evaluation, workers: Workers, *, seconds: float = 60.0) -> None:
    lifecycle.start(evaluation.pk)
    workers.start()
    wait_for(lambda: ended(evaluation), seconds=seconds, what="the end of the evaluation")


def assert_books_balance(evaluation: Evaluation) -> None:
    """Every drawn trial is recorded exactly once, totals equal a recount, and a replay of the log agrees."""
    evaluation.refresh_from_db()
    again = Trial.objects.filter(evaluation=evaluation).values("configuration", "round_number", "try_number")
    assert not again.annotate(n=Count("pk")).filter(n__gt=1).exists()
    for entry in evaluation.entries.all():
        trials = Trial.objects.filter(evaluation=evaluation, configuration=entry.configuration)
        outcomes = Counter(trials.values_list("outcome", flat=True))
        assert entry.trials == trials.count()
        assert entry.void == outcomes[Outcome.VOID]
        assert (entry.cut, entry.refused, entry.empty, entry.too_slow) == tuple(
            outcomes[o] for o in (Outcome.CUT, Outcome.REFUSED, Outcome.EMPTY, Outcome.TOO_SLOW)
        )
        assert entry.score_sum == sum(score for score in trials.values_list("score", flat=True) if score is not None)
    replayed = Ledger.of(evaluation)
    replayed.catch_up(evaluation)
    assert replayed.rounds_consumed == evaluation.rounds_consumed
    for estimate in Estimate.objects.filter(evaluation=evaluation, rounds=evaluation.rounds_consumed):
        if estimate.metric == Metric.SCORE:
            assert (estimate.lower, estimate.upper) == replayed.interval(estimate.configuration_id)


def test_it_stops_at_the_planned_precision(register: Register, model_api: ModelApi, workers: Workers) -> None:
    evaluation = register(sums(20), [a_configuration(model_api)], half_width=0.1)
    run_to_end(evaluation, workers)
    assert evaluation.stop_reason == StopReason.PRECISION
    last = evaluation.estimates.filter(metric=Metric.SCORE).latest("rounds")
    assert last.upper - last.lower <= 0.2
    assert last.lower <= 1.0 <= last.upper
    assert_books_balance(evaluation)


def test_it_spends_its_budget_of_trials_and_no_more(register: Register, model_api: ModelApi, workers: Workers) -> None:
    configurations = [a_configuration(model_api, "good"), a_configuration(model_api, "better")]
    evaluation = register(sums(10), configurations, max_trials=43, tries=2)
    run_to_end(evaluation, workers)
    assert evaluation.stop_reason == StopReason.TRIALS
    assert evaluation.trials.count() == 40  # ten rounds of two configurations and two tries; an eleventh would pass 43
    assert len(model_api.log()) == 40
    assert_books_balance(evaluation)


def test_it_keeps_its_budget_of_money_at_the_worst_case(
    register: Register, model_api: ModelApi, workers: Workers
) -> None:
    prices = pricing.given(input_usd="1000", output_usd="1000")
    configuration = a_configuration(model_api, prices=prices, decoding={"max_tokens": 10})
    evaluation = register(sums(10), [configuration], max_cost_usd=Decimal(1))
    run_to_end(evaluation, workers)
    assert evaluation.stop_reason == StopReason.MONEY
    entry = evaluation.entries.get()
    assert Decimal(0) < entry.cost <= Decimal(1)
    assert entry.cost == sum(trial.cost or 0 for trial in evaluation.trials.all())
    assert_books_balance(evaluation)


def test_it_stops_when_its_time_is_over(register: Register, model_api: ModelApi, workers: Workers) -> None:
    model_api.control(hold=True)
    evaluation = register(sums(10), [a_configuration(model_api)], max_seconds=0.5)
    run_to_end(evaluation, workers)
    assert evaluation.stop_reason == StopReason.TIME
    assert evaluation.trials.count() == 0


def test_every_class_of_fault_is_survived_under_its_own_name(
    register: Register, model_api: ModelApi, workers: Workers
) -> None:
    faults = [
        "http_429",
        "http_500",
        "http_503",
        "connection_reset",
        "broken_stream",
        "malformed_body",
        "stalled",
    ]
    prompts = [f"[[{fault}x1]] What is {i} + 7?" for i, fault in enumerate(faults)]
    suite = a_suite(prompts, [str(i + 7) for i in range(len(faults))])
    evaluation = register(suite, [a_configuration(model_api)], max_trials=60)
    run_to_end(evaluation, workers)
    entry = evaluation.entries.get()
    # Each prompt fails the first time that it is asked, and every one was drawn.
    assert entry.failed_calls == dict.fromkeys(faults, 1)
    assert (entry.trials, entry.void, entry.score_sum) == (60, 0, 60.0)
    waited = evaluation.trials.filter(failed_calls__has_key="stalled").get()
    assert waited.retry_s >= 1.0
    assert waited.latency_s is not None
    assert waited.latency_s < 1.0
    assert_books_balance(evaluation)


def test_a_cut_a_refused_and_an_empty_answer_are_results_and_are_not_asked_again(
    register: Register, model_api: ModelApi, workers: Workers
) -> None:
    suite = a_suite([f"[[{fault}]] What is 1 + 7?" for fault in ("cut", "refused", "empty")], ["8"] * 3)
    evaluation = register(suite, [a_configuration(model_api)], max_trials=30)
    run_to_end(evaluation, workers)
    entry = evaluation.entries.get()
    assert entry.cut + entry.refused + entry.empty == 30
    assert min(entry.cut, entry.refused, entry.empty) > 0
    assert len(model_api.log()) == 30
    assert evaluation.trials.filter(outcome=Outcome.CUT, score=1.0, finish_reason="length").count() == entry.cut
    assert entry.no_answer == entry.empty
    assert_books_balance(evaluation)


def test_what_fails_until_the_deadline_is_void_and_leaves_no_count(
    register: Register, model_api: ModelApi, workers: Workers
) -> None:
    suite = a_suite(
        ["[[http_500]] What is 1 + 7?", *[f"What is {i} + 7?" for i in range(9)]], ["8", *map(str, range(7, 16))]
    )
    evaluation = register(suite, [a_configuration(model_api)], max_trials=60, retry_deadline_s=0.1)
    run_to_end(evaluation, workers)
    entry = evaluation.entries.get()
    assert entry.void > 0
    assert entry.trials == 60
    assert set(evaluation.trials.filter(outcome=Outcome.VOID).values_list("fault", flat=True)) == {"http_500"}
    last = evaluation.estimates.filter(metric=Metric.SCORE).latest("rounds")
    assert last.upper - last.lower >= 0.5 * entry.void / 60
    assert_books_balance(evaluation)


def test_a_slow_answer_is_the_configurations_failure(register: Register, model_api: ModelApi, workers: Workers) -> None:
    model_api.control(latency_s=0.6)
    evaluation = register(sums(5), [a_configuration(model_api, time_limit_s=0.2)], max_trials=5)
    run_to_end(evaluation, workers)
    assert evaluation.entries.get().too_slow == 5
    assert len(model_api.log()) == 5


def test_a_wrong_key_pauses_the_run_and_names_the_remedy(
    register: Register, model_api: ModelApi, workers: Workers
) -> None:
    model_api.control(key="right")
    evaluation = register(sums(5), [a_configuration(model_api)], max_trials=5)
    run_to_end(evaluation, workers)
    assert evaluation.status == EvaluationStatus.PAUSED
    assert "wrong key" in evaluation.status_reason
    assert evaluation.trials.count() == 0
    model_api.control(key="")
    lifecycle.resume(evaluation.pk)
    wait_for(lambda: ended(evaluation), what="the end")
    assert evaluation.stop_reason == StopReason.TRIALS
    assert_books_balance(evaluation)


def test_a_killed_worker_loses_no_trial_and_counts_none_twice(
    register: Register, model_api: ModelApi, workers: Workers
) -> None:
    model_api.control(latency_s=0.05)
    configurations = [a_configuration(model_api, "good"), a_configuration(model_api, "better")]
    evaluation = register(sums(30), configurations, max_trials=200)
    lifecycle.start(evaluation.pk)
    for enough in (40, 90, 140):
        worker = workers.start()
        wait_for(lambda enough=enough: evaluation.trials.count() >= enough, what=f"{enough} trials")
        workers.kill(worker)
    workers.start()
    wait_for(lambda: ended(evaluation), seconds=60, what="the end")
    assert evaluation.stop_reason == StopReason.TRIALS
    assert evaluation.trials.count() == 200
    # Asked again: at most what was in flight at each of the three kills.
    assert 200 <= len(model_api.log()) <= 200 + 3 * 16
    assert_books_balance(evaluation)


def test_a_worker_told_to_stop_hands_over_and_nothing_is_asked_twice(
    register: Register, model_api: ModelApi, workers: Workers
) -> None:
    model_api.control(latency_s=0.05)
    evaluation = register(sums(30), [a_configuration(model_api)], max_trials=150)
    lifecycle.start(evaluation.pk)
    worker = workers.start()
    wait_for(lambda: evaluation.trials.count() >= 40, what="40 trials")
    workers.stop(worker)
    workers.start()
    wait_for(lambda: ended(evaluation), seconds=60, what="the end")
    assert evaluation.trials.count() == 150
    assert len(model_api.log()) == 150
    assert_books_balance(evaluation)


def test_a_cancelled_run_ends_at_once_and_can_be_resumed(
    register: Register, model_api: ModelApi, workers: Workers
) -> None:
    model_api.control(latency_s=0.05)
    evaluation = register(sums(30), [a_configuration(model_api)], max_trials=120)
    lifecycle.start(evaluation.pk)
    workers.start()
    wait_for(lambda: evaluation.trials.count() >= 20, what="20 trials")
    lifecycle.cancel(evaluation.pk)
    wait_for(lambda: not evaluation.leases.exists(), what="the worker's leaving")
    assert ended(evaluation)
    kept = evaluation.trials.count()
    assert 20 <= kept < 120
    lifecycle.resume(evaluation.pk)
    wait_for(lambda: ended(evaluation), what="the end")
    assert evaluation.stop_reason == StopReason.TRIALS
    assert evaluation.trials.count() == 120
    assert_books_balance(evaluation)


def test_the_order_of_arrival_changes_no_bound(register: Register, model_api: ModelApi, workers: Workers) -> None:
    """Half of the prompts answer late, so that rounds complete out of order; the log replays to the same bits."""
    prompts = [f"{'[[http_429x1]] ' if i % 2 else ''}What is {i} + 7?" for i in range(40)]
    suite = a_suite(prompts, [str(i + (7 if i % 3 else 8)) for i in range(40)])
    configurations = [a_configuration(model_api, "good"), a_configuration(model_api, "better")]
    evaluation = register(suite, configurations, max_trials=160)
    run_to_end(evaluation, workers)
    assert evaluation.rounds_consumed == 80
    assert_books_balance(evaluation)


def test_a_log_that_contradicts_its_plan_pauses_the_run_and_says_so(
    register: Register, model_api: ModelApi, workers: Workers
) -> None:
    evaluation = register(sums(10), [a_configuration(model_api)], max_trials=20)
    Round.objects.create(evaluation=evaluation, number=0, sequence=0, position=9, probability=0.5)
    Evaluation.objects.filter(pk=evaluation.pk).update(log_length=1, rounds_drawn=1)
    run_to_end(evaluation, workers)
    assert evaluation.status == EvaluationStatus.PAUSED
    assert "LogContradicted" in evaluation.status_reason
    assert model_api.log() == []


def test_configurations_of_one_evaluation_answer_the_same_rounds(
    register: Register, model_api: ModelApi, workers: Workers
) -> None:
    configurations = [a_configuration(model_api, "good"), a_configuration(model_api, "better")]
    evaluation = register(sums(10), configurations, max_trials=40)
    run_to_end(evaluation, workers)
    rounds = [
        set(evaluation.trials.filter(configuration=c).values_list("round_number", flat=True)) for c in configurations
    ]
    assert rounds[0] == rounds[1] == set(range(20))
    difference = evaluation.estimates.filter(metric=Metric.DIFFERENCE).latest("rounds")
    assert difference.lower <= 0.0 <= difference.upper
