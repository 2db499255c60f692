# Prompts one after another, each a sequence: prefill, then decode.
.prompts | to_entries | to_entries[] | .key as $seq | .value.value |
(["prefill", .prefill], ["decode", .decode]) | .[0] as $phase |
.[1][] | to_entries[] |
[$seq, $phase, .key, (.value | map(tostring) | join(","))] | @tsv
