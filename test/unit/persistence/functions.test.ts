/** The order of SQL functions follows from their files, and so do the parts of an append. House 4. */
import test from 'ava';
import { inOrder, sqlFunctions, withParts } from '../../../persistence/postgres/functions.ts';

const sql = (name: string, body: string, language = 'sql') => ({
  name,
  text: `-- of ${name}: zz(), never_called()\ncreate or replace function ${name}() returns int language ${language} as $$ ${body} $$;`,
});

test('house 4: a function comes after those that it calls, functions of triggers before all', (t) => {
  const names = inOrder([
    sql('aa', 'select mm()'),
    sql('bb', 'begin return cc(); end', 'plpgsql'),
    sql('cc', 'select 1'),
    sql('mm', 'select zz() + abs(1)'),
    { name: 'tt', text: 'create or replace function tt() returns trigger language plpgsql as $$ begin end $$;' },
    sql('zz', 'select 1'),
  ]).map(({ name }) => name);
  t.deepEqual(names, ['tt', 'zz', 'mm', 'aa', 'cc', 'bb']);
  t.throws(() => inOrder([sql('aa', 'select bb()'), sql('bb', 'select aa()')]), { message: /aa → bb → aa/ });
});

test('house 4: every function of the folder comes once, and a further part of an append joins by its file', (t) => {
  const functions = sqlFunctions();
  t.is(new Set(functions.map(({ name }) => name)).size, functions.length);
  const partsOf = (files: readonly { name: string; text: string }[]) =>
    [...files.find(({ name }) => name === 'append_parts')!.text.matchAll(/^\s*perform (\w+)\(batch\);$/gm)].map(
      ([, name]) => name,
    );
  t.deepEqual(partsOf(functions), [
    'append_addresses',
    'append_audit',
    'append_billing',
    'append_bridges',
    'append_clocks',
    'append_imports',
    'append_money',
    'append_payments',
    'append_resets',
    'append_sweeps',
    'append_warnings',
    'append_webhooks',
    'append_wipes',
  ]);
  const place = { name: 'append_parts', text: 'begin\n  -- perform append_<part>(batch);\nend' };
  const part = {
    name: 'append_notes',
    text: 'create or replace function append_notes(batch jsonb) returns void language plpgsql',
  };
  const trigger = { name: 'append_only', text: 'create or replace function append_only() returns trigger' };
  t.deepEqual(partsOf(withParts([part, trigger, place])), ['append_notes']);
  t.throws(() => withParts([part, { name: 'append_parts', text: 'begin end' }]), { message: /has no line/ });
});
