"""What a record is: its fields, rules and text form."""
