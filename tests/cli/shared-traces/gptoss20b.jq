# A token an entry, {"token_99": {"layer_0": {...}}}; the number is its place.
.router_data[] | to_entries[] | (.key | ltrimstr("token_")) as $pos |
.value | to_entries[] |
[$pos, (.key | ltrimstr("layer_")),
    (.value.selected_experts | map(tostring) | join(",")),
    (.value.selected_probs | map(tostring) | join(","))] | @tsv
