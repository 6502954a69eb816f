"""Reads CSV results of sluice and prints rows in the peer's form: `+I 1 | <NULL> | TRUE`."""


def parse_csv(text):
    """Records of (text, quoted) fields; a quoted empty field is '', an empty one NULL."""
    records, record, field, quoted, in_quotes = [], [], [], False, False
    at = 0
    while at < len(text):
        char = text[at]
        if in_quotes:
            if char == '"' and text[at + 1 : at + 2] == '"':
                field.append('"')
                at += 1
            elif char == '"':
                in_quotes = False
            else:
                field.append(char)
        elif char == '"':
            in_quotes = quoted = True
        elif char in ",\n":
            record.append(("".join(field), quoted))
            field, quoted = [], False
            if char == "\n":
                records.append(record)
                record = []
        elif char != "\r":
            field.append(char)
        at += 1
    return records


def printed_rows(text):
    records = parse_csv(text)
    if not records:
        return []
    changelog = records[0][0][0] == "op"
    rows = []
    for record in records[1:]:
        values = [value if value or quoted else "<NULL>" for value, quoted in record]
        kind = values.pop(0) if changelog else "+I"
        rows.append(kind + " " + " | ".join(values))
    if len(records[0]) == 1 and records[0][0][0] == "result":
        return [records[1][0][0].strip()]
    return rows
