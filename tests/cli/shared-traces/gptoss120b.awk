# turn,phase,step,layer,slot,expert,weight,...: decode rows, a slot a row.
BEGIN { FS = ","; print "pos\tlayer\texperts\tweights" }
/^#/ || $2 != 1 { next }
$5 == 0 && NR > 1 { flush() }
$5 == 0 { step = $3; layer = $4; experts = $6; weights = $7; next }
{ experts = experts "," $6; weights = weights "," $7 }
END { flush() }

function flush()
{
	if (experts != "")
		print step "\t" layer "\t" experts "\t" weights
}
