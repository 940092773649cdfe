/** The checks of `flock doctor` that need no look from the customer's machine, by the same code. Ecosystem X36. */
import type { JSX } from 'preact';
import {
  deliveriesFinding,
  endpointsFinding,
  leaderFinding,
  rotationFinding,
} from '../../protocol/account-findings.ts';
import { unknown, type Finding } from '../../protocol/finding.ts';
import type { ReplyOf } from '../../protocol/routes.ts';
import { nowMs } from '../app/live.ts';
import type { PageProps } from '../app/page.ts';
import { useRead, type Read } from '../app/read.ts';
import { Panel, Status, type Tone } from '../ui/parts.tsx';
import { Table } from '../ui/table.tsx';

/** The largest page: an account has no more endpoints. */
const ENDPOINTS = { query: { size: '200' } };
const NEWEST = { query: { size: '50' } };
const ONE = { query: { size: '1' } };

const TONES: Readonly<Record<Finding['verdict'], Tone>> = { ok: 'good', warn: 'warn', fail: 'bad', unknown: 'quiet' };

export function Checks({
  scope,
  lease,
}: Pick<PageProps, 'scope'> & { lease: Read<ReplyOf<'getEdgeLease'>> }): JSX.Element {
  const webhooks = useRead('listWebhooks', scope, ENDPOINTS);
  const deliveries = useRead('listDeliveries', scope, NEWEST);
  const letters = useRead('listDeadLetters', scope, ONE);
  const rows: readonly [string, Finding][] = [
    ['leader', of(lease, leaderFinding)],
    ['endpoints', of(webhooks, ({ content }) => endpointsFinding(present(content), []))],
    [
      'deliveries',
      of(deliveries, ({ content }) => of(letters, (dead) => deliveriesFinding(content, dead.content[0], nowMs.value))),
    ],
    ['secret_rotation', of(webhooks, ({ content }) => rotationFinding(present(content)))],
  ];
  return (
    <Panel title="Checks" note="flock doctor on your machine looks at these, and at what is seen from there alone">
      <Table
        caption="Checks of the set-up"
        rows={rows}
        keyOf={([id]) => id}
        columns={[
          { name: 'Check', cell: ([id]) => <code>{id}</code> },
          { name: 'Verdict', cell: ([, { verdict }]) => <Status of={verdict} tone={TONES[verdict]} /> },
          { name: 'Seen', cell: ([, { seen }]) => seen },
          { name: 'Next', cell: ([, { remedy }]) => remedy ?? '–' },
        ]}
      />
    </Panel>
  );
}

const present = <T extends { readonly status: string }>(all: readonly T[]): T[] =>
  all.filter(({ status }) => status !== 'deleted');

/** What could not be read, or is not yet, is never ok. X34. */
function of<T>({ data, failure }: Read<T>, finding: (data: T) => Finding): Finding {
  if (failure !== null) return unknown(`the service answered ${failure.refusal.code}`, 'read it again');
  return data === null ? unknown('being read', 'wait a moment') : finding(data);
}
