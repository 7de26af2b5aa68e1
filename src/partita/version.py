"""The version, in one place: the package metadata and `partita --version` read it here."""

__version__ = "0.1.0"
