-- Moments that gate something are the database's: the application's role could date them into the past, and a node
-- whose clock is wrong did.
create trigger factor_reset_stamped before insert or update on factor_reset
  for each row execute function stamp_factor_reset();
-- An hour of reading that begins later would last until then. Ten minutes: what clocks differ by changes nothing of it.
create trigger support_session_begins_now before insert on support_session for each row
  when (new.created_at > clock_timestamp() + interval '10 minutes')
  execute function refuse('support_session_begins_now');
