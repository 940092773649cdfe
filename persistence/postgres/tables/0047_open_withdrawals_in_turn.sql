-- `open_withdrawals` goes on from where the last look ended: `functions/open_withdrawals.sql`, which takes one argument more.
drop function if exists open_withdrawals(text, bigint, int);
