"""The numbers of one application, for Prometheus. What is counted for every chunk is a plain number here."""

from collections.abc import Iterator
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.gc_collector import GCCollector
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from partita.runtime.failures import FailureKind
from partita.runtime.session.session import Session
from partita.server.worker_pool import WorkerPool
from partita.store.facade.store import Store
from partita.types.runs import Run
from partita.version import __version__

CONTENT_TYPE: Final = CONTENT_TYPE_LATEST

ERROR_KINDS: Final[tuple[FailureKind, ...]] = ("agent", "tool", "store")

QUICK: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
LONG: Final = (0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0)

REASONS: Final = {
    400: "invalid",
    401: "unknown caller",
    403: "not allowed",
    405: "method",
    408: "too slow",
    413: "too large",
    414: "target too long",
    415: "media type",
    421: "wrong host",
    429: "too many requests",
    431: "headers too large",
    503: "unavailable",
}
"""Why a request was refused, by the status it was refused with. Others are no refusals."""


class Metrics:
    """What is counted. Labels are few and known: templates of routes, names of agents, never an id."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.open_streams = 0
        self.events = 0
        """Server-sent events that were sent: chunks, and signs of life."""
        self.sent_bytes = 0
        self.log_lines_dropped = 0
        """Log lines that were left out because there were too many of their kind."""
        self.store: Store | None = None
        self.session: Session | None = None
        self.workers: WorkerPool | None = None
        """Whose numbers are read when they are asked for."""
        self.requests = Counter(
            "partita_requests",
            "Requests that were answered.",
            ("route", "method", "status"),
            registry=self.registry,
        )
        self.request_seconds = Histogram(
            "partita_request_seconds",
            "How long answers took, those apart that stream.",
            ("route", "method"),
            buckets=QUICK,
            registry=self.registry,
        )
        self.stream_seconds = Histogram(
            "partita_stream_seconds",
            "How long streams were open.",
            ("route",),
            buckets=LONG,
            registry=self.registry,
        )
        self.refusals = Counter(
            "partita_refused_requests", "Requests that were refused.", ("reason",), registry=self.registry
        )
        self.resumes = Counter(
            "partita_resumes",
            "Clients that came back for an answer: live, or idle when there was none at work.",
            ("kind",),
            registry=self.registry,
        )
        self.runs_started = Counter(
            "partita_runs_started", "Runs that began.", ("agent",), registry=self.registry
        )
        self.runs_ended = Counter(
            "partita_runs_ended", "Runs that ended, by how.", ("agent", "status"), registry=self.registry
        )
        Gauge("partita_info", "What runs here.", ("version",), registry=self.registry).labels(
            __version__
        ).set(1)
        self.registry.register(_Plain(self))
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        GCCollector(registry=self.registry)

    def observe(self, store: Store, session: Session, workers: WorkerPool) -> None:
        """Include the numbers of a store and of a session."""
        self.store, self.session, self.workers = store, session, workers

    def drop_log_line(self) -> None:
        """Count a log line that was left out."""
        self.log_lines_dropped += 1

    def count_run(self, run: Run) -> None:
        """Count a run when it begins, and when it has ended."""
        agent = run.agent or ""
        if run.finished_at is None:
            self.runs_started.labels(agent).inc()
        else:
            self.runs_ended.labels(agent, run.status).inc()

    def refused(self, status: int) -> None:
        """Count a refusal; what is none is passed over."""
        if status in REASONS:
            self.refusals.labels(REASONS[status]).inc()

    def exposition(self) -> bytes:
        """All numbers, in the text format of Prometheus."""
        return generate_latest(self.registry)


class _Plain(Collector):
    """The plain numbers, at the moment when somebody asks."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def collect(self) -> Iterator[Metric]:
        """All of them."""
        metrics = self._metrics
        yield GaugeMetricFamily("partita_open_streams", "Streams that are open.", metrics.open_streams)
        yield CounterMetricFamily(
            "partita_stream_events", "Server-sent events that were sent.", metrics.events
        )
        yield CounterMetricFamily("partita_sent_bytes", "Bytes of bodies that were sent.", metrics.sent_bytes)
        yield CounterMetricFamily(
            "partita_log_lines_dropped",
            "Log lines that were left out because there were too many of their kind.",
            metrics.log_lines_dropped,
        )
        if metrics.session is not None:
            yield from _of_session(metrics.session)
        if metrics.store is not None:
            yield from _of_store(metrics.store)
        if metrics.workers is not None:
            yield from _of_workers(metrics.workers)


def _of_session(session: Session) -> Iterator[Metric]:
    counts = session.counts
    yield GaugeMetricFamily("partita_runs_working", "Runs of this process at work.", session.working())
    yield GaugeMetricFamily(
        "partita_runs_waiting", "Runs that wait for another run of their thread.", session.waiting()
    )
    errors = CounterMetricFamily("partita_errors", "Errors in runs, by what failed.", labels=("kind",))
    for kind in ERROR_KINDS:
        errors.add_metric((kind,), counts.failures[kind])
    yield errors
    yield CounterMetricFamily(
        "partita_leases_lost", "Runs that another process ended meanwhile.", counts.failures["lease"]
    )
    yield CounterMetricFamily(
        "partita_runs_recovered", "Runs of other processes that were ended here.", counts.recovered
    )


def _of_workers(workers: WorkerPool) -> Iterator[Metric]:
    yield GaugeMetricFamily("partita_workers_working", "Worker processes at work.", workers.working)
    yield GaugeMetricFamily(
        "partita_workers_waiting", "Requests that wait for a worker process.", workers.waiting
    )
    yield CounterMetricFamily(
        "partita_workers_exceeded", "Requests that exceeded a limit of their worker.", workers.exceeded
    )


def _of_store(store: Store) -> Iterator[Metric]:
    health = store.engine.health
    yield GaugeMetricFamily(
        "partita_run_log_waiting_bytes",
        "Bytes that wait to be written to the logs of runs.",
        store.appender.waiting,
    )
    yield CounterMetricFamily(
        "partita_store_retries",
        "Work of the store that was done again: its server was away, or another writer in the way.",
        health.retries,
    )
    available = GaugeMetricFamily("partita_store_available", "1 if the last call worked.", labels=("work",))
    waiting = GaugeMetricFamily("partita_store_waiting", "Calls that have not ended.", labels=("work",))
    outages = CounterMetricFamily("partita_store_outages", "Outages of the store.", labels=("work",))
    failures = CounterMetricFamily("partita_store_failures", "Calls that failed then.", labels=("work",))
    for work, seen in (("read", health.reading), ("write", health.writing)):
        available.add_metric((work,), 0 if seen.is_down else 1)
        waiting.add_metric((work,), seen.waiting)
        outages.add_metric((work,), seen.outages)
        failures.add_metric((work,), seen.failures)
    yield from (available, waiting, outages, failures)
