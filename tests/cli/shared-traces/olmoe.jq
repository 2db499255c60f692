# A token a line, its layers in order, the ids of each.
.layers | to_entries[] | [.key, (.value | map(tostring) | join(","))] | @tsv
