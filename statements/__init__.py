"""What facts and memories share: wording, gates, suppressions, versions, state transitions and indexing."""
