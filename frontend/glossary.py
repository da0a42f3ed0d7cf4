"""The words of the platform, in a sentence each."""

GLOSSARY = [
    (
        "Task",
        "A named kind of intended work, with what counts as success, whom it stands for and what is out of scope.",
    ),
    ("Question", "One item of a task. What it says lies in revisions that never change; an edit makes a new one."),
    ("Suite", "A frozen list of accepted questions, known by the hash of its content: what an evaluation is run on."),
    (
        "Configuration",
        "The disclosed system under test: model, endpoint, scaffold, decoding, prices. What is not disclosed is listed.",
    ),
    ("Scaffold", "What is sent to the model besides the question: instructions, examples, tools."),
    ("Evaluation", "A request to measure configurations on one suite under a plan registered before the first trial."),
    ("Round", "One question, drawn at random and put to every configuration of an evaluation."),
    ("Attempt", "A block of consecutive rounds, 25 unless the plan says otherwise."),
    ("Trial", "One try at one question by one configuration, recorded with its verdict, cost and latency, for good."),
    (
        "Verdict",
        "What the grader says of an answer: a score from 0 to 1, what it took for the answer, and by which rule.",
    ),
    (
        "Anytime-valid",
        "The interval holds at every moment at once: you may look after each trial and stop when you like, and 95 % stays 95 %.",
    ),
    (
        "Interval",
        "Where the true score lies on this suite under these conditions, unless one of the 5 in 100 misfortunes happened.",
    ),
    (
        "Void",
        "A trial that brought no answer through no fault of the configuration. It is not dropped: it widens the interval, as if it could have been either right or wrong.",
    ),
    (
        "Cut, refused, empty",
        "Answers that ended at the token limit, were refused or filtered, or held nothing. They are results, graded as they are and counted.",
    ),
    (
        "Rank set",
        "The ranks that the evidence leaves possible. 1–2 means: nobody is certified better, somebody may be.",
    ),
    (
        "Certified",
        "The interval of the difference leaves out zero, with all pairs of the evaluation taken into account.",
    ),
    (
        "pass^k",
        "How often all of k tries at the same question succeed: what matters where there is nobody to pick the good one.",
    ),
    ("Latency", "Seconds of the call that succeeded. Waiting for a place, retries and back-off are kept apart."),
]
