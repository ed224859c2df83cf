"""The processors of pipelines, one file each."""
