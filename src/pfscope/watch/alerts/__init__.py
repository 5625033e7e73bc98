"""Who is told of what happens, when and how: rules, states, silences, groups, delivery.

`facts` and `thresholds` turn incidents and answers into observations → `engine` (a pure state
machine over `states`, `muting` and `grouping`) says which notifications are due → `delivery` keeps
them until a notifier has handed each over. `alerting.Alerting` is the whole, in one directory.
"""
