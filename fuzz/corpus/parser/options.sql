
CREATE TABLE MyUserTable (
  column_name1 INT,
  column_name2 STRING,
  datetime STRING,
  `hour` STRING
) PARTITIONED BY (datetime, `hour`) WITH (
  'connector' = 'filesystem',           -- required: must be 'filesystem'
  'path' = 'file:///path/to/whatever',  -- required: path to a directory
  'format' = 'orc',                     -- required: orc, parquet, avro, csv, json, or raw
-- Please refer to Table Formats
  'source.path.regex-pattern' = '.*', -- optional: with the absolute file path. If this option is set,
-- of `path` option
  'auto-compaction' = 'true'            -- optional (sink only): enable automatic compaction
);

CREATE TABLE MyUserTableWithFilepath (
  column_name1 INT,
  column_name2 STRING,
  `file.path` STRING NOT NULL METADATA
) WITH (
  'connector' = 'filesystem',
  'path' = 'oss://<bucket>/path',
  'format' = 'json'
)
;
CREATE TEMPORARY TABLE fs_table_source (
  `id` INT,
  `name` VARCHAR
) WITH (
  'connector' = 'filesystem'
);

INSERT INTO blackhole_sink SELECT * FROM fs_table_source;
