"""The metrics in the text format of Prometheus. It needs `prometheus-client`, from the extra `telemetry`."""

from collections.abc import Iterator, Mapping
from itertools import accumulate
from math import inf
from typing import Final

from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

from partita.runtime.failures import FailureKind
from partita.runtime.session.session import Session
from partita.store.store import Store
from partita.version import __version__

from .metrics import Durations, Labels, Metrics
from .worker_pool import WorkerPool

CONTENT_TYPE: Final = CONTENT_TYPE_LATEST
ERROR_KINDS: Final[tuple[FailureKind, ...]] = ("agent", "tool", "store")


def exposition(metrics: Metrics) -> bytes:
    """All metrics of an application and of its process, as text."""
    return generate_latest(registry_of(metrics))


def registry_of(metrics: Metrics) -> CollectorRegistry:
    """A registry of these metrics and those of the process."""
    registry = CollectorRegistry()
    registry.register(_Metrics(metrics))
    ProcessCollector(registry=registry)
    PlatformCollector(registry=registry)
    GCCollector(registry=registry)
    return registry


class _Metrics(Collector):
    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def collect(self) -> Iterator[Metric]:
        metrics = self._metrics
        yield from _of_requests(metrics)
        yield _counter("partita_runs_started", "Runs that started.", ("agent",), metrics.runs_started)
        yield _counter("partita_runs_ended", "Runs that ended.", ("agent", "status"), metrics.runs_ended)
        info = GaugeMetricFamily("partita_info", "The version of Partita.", labels=("version",))
        info.add_metric((__version__,), 1)
        yield info
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


def _of_requests(metrics: Metrics) -> Iterator[Metric]:
    yield _counter(
        "partita_requests",
        "Requests by route, method and status.",
        ("route", "method", "status"),
        metrics.requests,
    )
    yield _histogram(
        "partita_request_seconds",
        "Seconds until responses were complete, except streams.",
        ("route", "method"),
        metrics.request_seconds,
    )
    yield _histogram(
        "partita_stream_seconds", "Seconds for which streams were open.", ("route",), metrics.stream_seconds
    )
    yield _counter("partita_refused_requests", "Requests that were refused.", ("reason",), metrics.refusals)
    yield _counter(
        "partita_resumes",
        "Clients that reconnected to a response: live, or idle when none was active.",
        ("kind",),
        metrics.resumes,
    )
    yield GaugeMetricFamily("partita_open_streams", "Streams that are open.", metrics.open_streams)
    yield CounterMetricFamily("partita_stream_events", "Server-sent events that were sent.", metrics.events)
    yield CounterMetricFamily("partita_sent_bytes", "Bytes of bodies that were sent.", metrics.sent_bytes)


def _of_session(session: Session) -> Iterator[Metric]:
    counts = session.counts
    yield GaugeMetricFamily("partita_runs_working", "Active runs of this process.", session.running_count())
    yield GaugeMetricFamily(
        "partita_runs_waiting", "Runs that wait for another run of their thread.", session.queued_count()
    )
    errors: dict[Labels, int] = {(kind,): counts.failures[kind] for kind in ERROR_KINDS}
    yield _counter("partita_errors", "Errors in runs, by the part that failed.", ("kind",), errors)
    yield CounterMetricFamily(
        "partita_leases_lost", "Runs that another process ended in the meantime.", counts.failures["lease"]
    )
    yield CounterMetricFamily(
        "partita_runs_recovered", "Runs of other processes that were ended here.", counts.recovered
    )


def _of_workers(workers: WorkerPool) -> Iterator[Metric]:
    yield GaugeMetricFamily("partita_workers_working", "Busy worker processes.", workers.working)
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
        "Calls that were repeated because the database was unavailable or another writer held it.",
        health.retries,
    )
    available = GaugeMetricFamily(
        "partita_store_available", "1 if the last call succeeded.", labels=("work",)
    )
    waiting = GaugeMetricFamily("partita_store_waiting", "Calls that have not ended.", labels=("work",))
    outages = CounterMetricFamily("partita_store_outages", "Outages of the store.", labels=("work",))
    failures = CounterMetricFamily(
        "partita_store_failures", "Calls that failed because the store was unavailable.", labels=("work",)
    )
    for work, seen in (("read", health.reading), ("write", health.writing)):
        available.add_metric((work,), 0 if seen.is_down else 1)
        waiting.add_metric((work,), seen.waiting)
        outages.add_metric((work,), seen.outages)
        failures.add_metric((work,), seen.failures)
    yield from (available, waiting, outages, failures)


def _counter(name: str, documentation: str, labels: Labels, counts: Mapping[Labels, int]) -> Metric:
    family = CounterMetricFamily(name, documentation, labels=labels)
    for values, count in counts.items():
        family.add_metric(values, count)
    return family


def _histogram(
    name: str, documentation: str, labels: Labels, durations: Mapping[Labels, Durations]
) -> Metric:
    family = HistogramMetricFamily(name, documentation, labels=labels)
    for values, one in durations.items():
        bounds = map(floatToGoString, (*one.bounds, inf))
        family.add_metric(values, list(zip(bounds, accumulate(one.counts), strict=True)), one.seconds)
    return family
