explain select 1;
explain plan for insert into t select 1;
explain estimated_cost, changelog_mode, json_execution_plan, plan_advice select 1;
explain statement set begin insert into a select 1; end;
stop job 'x' with savepoint with drain;
