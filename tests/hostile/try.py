import sys, time, os
from run import *
from stage import Stage
names=sys.argv[2:]
rows=attacks()
with Stage() as stage:
    runner=Runner(stage)
    for bn in sys.argv[1].split(','):
        b=backends()[bn]
        pr=b.probe()
        if not pr.works: print(bn, pr.detail); continue
        for n,a in rows.items():
            if names and n not in names and not (names[0]=='iso' and 'observe' and not a.observe): continue
            t=time.monotonic()
            try:
                c=judged(runner,a,bn,b,thorough=False)
                print(f"{bn:8} {n:22} {c.state.value:8} {time.monotonic()-t:5.2f} {c.text[:150] if c.state.value!='void' else c.text} {c.note}",flush=True)
            except Exception as e:
                import traceback; print(bn,n,"EXC",traceback.format_exc()[-1500:])
