"""W8: compaction of a table of small files, and upload to an object store."""
import compaction
import s3_upload

TITLE = "compaction, S3 upload"


def run(options, flink):
    return compaction.cases(options) + s3_upload.cases(options)
