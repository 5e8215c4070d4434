"""What facts and memories share: their wording, gates, suppressions, versions, transitions and indexing."""
