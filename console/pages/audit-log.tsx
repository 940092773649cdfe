/** Who did what in the organization: filters, what changed, whether the log is whole, and the log to take along. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ReplyOf } from '../../protocol/routes.ts';
import { ask, askWithFactor } from '../app/ask.ts';
import { filter, place } from '../app/location.ts';
import type { PageProps } from '../app/page.ts';
import { readAgain, useRead } from '../app/read.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Choice, Field, Form, useSend } from '../ui/form.tsx';
import { Code, Facts, Head, Instant, Panel, Status, Text, Time } from '../ui/parts.tsx';
import { save } from '../ui/secret.tsx';
import { Empty, Shown } from '../ui/states.tsx';
import { Filter, Table, TextFilter, Steps } from '../ui/table.tsx';
import { plain, words } from '../ui/text.ts';
import { queryOf } from './addresses.tsx';

type Entry = ReplyOf<'listAuditLog'>['content'][number];
type Verified = ReplyOf<'verifyAuditLog'>;
type Checkpoint = ReplyOf<'getAuditCheckpoint'>;

const FILTERS = ['outcome', 'action', 'actor', 'target', 'from', 'to', 'after'] as const;
const OUTCOMES = [
  ['done', 'Done'],
  ['refused', 'Refused'],
  ['failed', 'Failed'],
] as const;
const TONES = { done: 'good', refused: 'warn', failed: 'bad' } as const;
const KINDS = { user: 'Person', key: 'API key', edge: 'Edge', admin: 'Staff', system: 'Service' } as const;

export function AuditLog({ scope }: PageProps): JSX.Element {
  const read = useRead('listAuditLog', scope, { query: queryOf(FILTERS) as never });
  const [shown, setShown] = useState<Entry | null>(null);
  const { query } = place.value;
  const isFiltered = FILTERS.some((name) => query[name] !== undefined);
  return (
    <>
      <Head
        title="Audit log"
        note="Who did what in this organization, in live and in sandbox. Reading it is noted, too."
      />
      <div class="filters">
        <Filter name="outcome" label="Outcome" options={OUTCOMES} />
        <TextFilter name="action" label="Action" />
        <TextFilter name="actor" label="Actor (id)" />
        <TextFilter name="target" label="About (id)" />
        <DayFilter name="from" label="From (UTC)" />
        <DayFilter name="to" label="Before (UTC)" />
      </div>
      <Panel>
        <Shown read={read} rows={10}>
          {({ content, next }) =>
            content.length === 0 && next === null ? (
              <Empty title={isFiltered ? 'No entry matches these filters' : 'Nothing was noted yet'}>
                {!isFiltered && 'Sign-ins, and what people, keys and edges change, are noted here.'}
              </Empty>
            ) : (
              <>
                <Entries rows={content} show={setShown} />
                <Steps next={next} what="entries">
                  {content.length === 0 ? 'None among the newest of these; look further' : `${content.length} entries`}
                </Steps>
              </>
            )
          }
        </Shown>
      </Panel>
      <div class="columns">
        <Verification scope={scope} />
        <Export scope={scope} />
      </div>
      {shown !== null && <Whole entry={shown} close={() => setShown(null)} />}
    </>
  );
}

function Entries({ rows, show }: { rows: readonly Entry[]; show: (entry: Entry) => void }): JSX.Element {
  return (
    <Table
      caption="Entries of the audit log"
      rows={rows}
      keyOf={({ seq }) => String(seq)}
      columns={[
        { name: 'When', cell: ({ at }) => <Time at={at} /> },
        {
          name: 'What',
          cell: (entry) => (
            <button type="button" class="link" onClick={() => show(entry)}>
              {actionWords(entry.action)}
            </button>
          ),
        },
        {
          name: 'Who',
          cell: ({ actor }) => (
            <>
              <Text of={actor.name ?? actor.id} />{' '}
              {actor.kind !== 'user' && <span class="faint">· {KINDS[actor.kind]}</span>}
            </>
          ),
        },
        { name: 'Outcome', cell: ({ outcome }) => <Status of={outcome} tone={TONES[outcome]} /> },
        { name: 'Changed', cell: ({ changes }) => <Changed changes={changes} />, wideOnly: true },
        { name: 'From', cell: ({ ip }) => <Text of={ip} />, wideOnly: true },
        { name: 'No.', align: 'right', cell: ({ seq }) => seq },
      ]}
    />
  );
}

/** `mintApiKey` as `Mint api key`. */
const actionWords = (action: string): string =>
  words(plain(action).replace(/[A-Z]/g, (one) => `_${one.toLowerCase()}`));

function Changed({ changes }: Pick<Entry, 'changes'>): JSX.Element {
  const names = Object.keys(changes ?? {});
  return <Text of={names.length === 0 ? null : names.map(words).join(', ')} />;
}

const shownValue = (value: unknown): string =>
  value === null ? '–' : Array.isArray(value) ? value.map(String).join(', ') : String(value);

function Whole({ entry, close }: { entry: Entry; close: () => void }): JSX.Element {
  const { actor, changes } = entry;
  return (
    <Dialog title={actionWords(entry.action)} onClose={close} wide>
      <Facts
        rows={[
          ['Entry', `No. ${entry.seq}`],
          ['At', <Instant at={entry.at} />],
          ['Who', <Text of={[KINDS[actor.kind], actor.name].filter(Boolean).join(', ')} />],
          ['Actor', <Code of={actor.id} whole />],
          ['By way of', words(entry.via)],
          ['Outcome', <Status of={entry.outcome} tone={TONES[entry.outcome]} />],
          ...(entry.reason === null ? [] : [['Reason', <Text of={entry.reason} />] as const]),
          ['About', <Code of={entry.target} whole />],
          ['Environment', <Text of={entry.environment} />],
          ['Address', <Text of={entry.ip} />],
          ['Program', <Text of={entry.client} />],
          ['Request', <Code of={entry.requestId} whole />],
          ['Hash', <Code of={entry.hash} />],
        ]}
      />
      {changes !== null && Object.keys(changes).length > 0 && (
        <Table
          caption="What changed"
          rows={Object.entries(changes)}
          keyOf={([name]) => name}
          columns={[
            { name: 'Field', cell: ([name]) => words(name) },
            { name: 'Before', cell: ([, [before]]) => <Text of={shownValue(before)} /> },
            { name: 'After', cell: ([, [, after]]) => <Text of={shownValue(after)} /> },
          ]}
        />
      )}
    </Dialog>
  );
}

/** The beginning of a day in UTC. */
function DayFilter({ name, label }: { name: 'from' | 'to'; label: string }): JSX.Element {
  return (
    <label class="filter">
      <span>{label}</span>
      <input
        type="date"
        value={place.value.query[name]?.slice(0, 10) ?? ''}
        onChange={(event) => {
          const day = event.currentTarget.value;
          filter({ [name]: day === '' ? undefined : `${day}T00:00:00.000Z` });
        }}
      />
    </label>
  );
}

/** Whether a text is one, is the server's to say; here only what is no JSON is named. */
function checkpointOf(text: string): Checkpoint | null {
  try {
    const value = JSON.parse(text) as Checkpoint | { data: Checkpoint };
    return 'data' in value ? value.data : value;
  } catch {
    return null;
  }
}

function Verification({ scope }: Pick<PageProps, 'scope'>): JSX.Element {
  const [found, setFound] = useState<Verified | null>(null);
  const [isText, setText] = useState(true);
  const verify = useSend<Verified>(async ({ checkpoint = '' }) => {
    setFound(null);
    const kept = checkpoint.trim() === '' ? undefined : checkpointOf(checkpoint);
    setText(kept !== null);
    return kept === null
      ? null
      : ask('verifyAuditLog', scope, { body: kept === undefined ? {} : { checkpoint: kept } });
  }, setFound);
  const keep = useSend<Checkpoint>(
    () => ask('getAuditCheckpoint', scope),
    (checkpoint) => save(`${JSON.stringify(checkpoint)}\n`, `audit-checkpoint-${checkpoint.seq}.json`),
  );
  return (
    <Panel
      actions={<Form sending={keep} label="Save a checkpoint" inline />}
      title="Is the log whole?"
      note="Each entry has a hash of all before it. Keep a checkpoint somewhere else: a log that was rewritten does not continue it. A live edge keeps one each day."
    >
      <Form sending={verify} label="Verify">
        <Field
          label="A checkpoint from earlier (optional)"
          name="checkpoint"
          maxLength={1_000}
          placeholder='{"organization":"org_…","seq":…}'
          hint={
            isText
              ? 'As it was saved here, or as flock-edge audit show writes it.'
              : 'This is no checkpoint: it is a line of JSON.'
          }
        />
      </Form>
      <div role="status">{found !== null && <Verdict found={found} />}</div>
    </Panel>
  );
}

function Verdict({ found }: { found: Verified }): JSX.Element {
  if (found.ok)
    return (
      <p class="notice good">
        Whole: {found.checkpoint.seq.toLocaleString('en')} entries, and each continues the one before it.
      </p>
    );
  return (
    <div class="notice bad">
      <p>The log is not what was recorded. Take an export along before anything else changes.</p>
      <ul>
        {found.problems.map(({ seq, problem }) => (
          <li key={`${seq} ${problem}`}>
            Entry {seq}: {problem}
          </li>
        ))}
      </ul>
    </div>
  );
}

function Export({ scope }: Pick<PageProps, 'scope'>): JSX.Element {
  const [format, setFormat] = useState('jsonl');
  const sending = useSend<unknown>(
    () =>
      askWithFactor('The whole log leaves the service.', 'exportAuditLog', scope, () => ({
        query: { format: format as 'jsonl' | 'csv' },
      })),
    (text) => {
      save(String(text), `audit-log.${format}`);
      readAgain('listAuditLog');
    },
  );
  return (
    <Panel
      title="Export"
      note="Part of the tier ultimate. Takes a fresh code. flock audit verify checks JSON Lines without the service."
    >
      <Form sending={sending} label="Export">
        <Choice
          label="Format"
          name="format"
          options={[
            ['jsonl', 'JSON Lines, with hashes'],
            ['csv', 'CSV, for a spreadsheet'],
          ]}
          value={format}
          onChange={setFormat}
        />
      </Form>
    </Panel>
  );
}
