"""The former place of `log.records`."""

from .log.records import load_records, records_in

__all__ = ["load_records", "records_in"]
