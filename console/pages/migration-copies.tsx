/** The addresses of a project as files: what each format says, what it leaves out, and when it is refused. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import {
  EXPORT_FORMATS,
  type ExportFormat,
  type INEXPRESSIBLE_REASONS,
  type LostField,
} from '../../protocol/migration/words.ts';
import type { ReplyOf } from '../../protocol/routes.ts';
import { ask, askWithFactor, may } from '../app/ask.ts';
import { useRead } from '../app/read.ts';
import { Choice, Form, useSend } from '../ui/form.tsx';
import { Facts, Panel } from '../ui/parts.tsx';
import { save } from '../ui/secret.tsx';
import { Shown } from '../ui/states.tsx';
import { number, type OfProject } from './migration-files.tsx';

/** A copy of more addresses than this is for the command line: the browser would hold all of it. */
const SAVED_MAX = 50_000;

interface Format {
  readonly name: string;
  readonly file: string;
  /** Whole extended keys are in it: an owner saves it, with a second factor. */
  readonly showsKeys: boolean;
}
const FORMATS: Readonly<Record<ExportFormat, Format>> = {
  CSV: { name: 'CSV: a row for each address', file: 'addresses.csv', showsKeys: false },
  JSONL: { name: 'JSON Lines: an object for each address', file: 'addresses.jsonl', showsKeys: false },
  DESCRIPTORS: { name: 'Output descriptors: ranges of Bitcoin', file: 'descriptors.txt', showsKeys: true },
  KEY_VALUE: { name: 'Key-value: ranges below extended keys', file: 'ranges.txt', showsKeys: true },
};
const LOST: Readonly<Record<LostField, string>> = {
  derivation_path: 'the path of each address',
  user_ref: 'customer references',
  tag: 'tags',
  label: 'labels',
};
const WHY: Readonly<Record<(typeof INEXPRESSIBLE_REASONS)[number], string>> = {
  untraced: 'nobody has derived them',
  single_key: 'they have a key of their own',
  retired_identity: 'their phrase was replaced',
  chain: 'their chain has no such format',
  script: 'of their script',
  branch: 'of their branch',
};

export function Copies({ scope, observed: { projectId, addresses } }: OfProject): JSX.Element {
  const params = { projectId };
  const reconcile = useSend<unknown>(
    () => ask('getReconciliation', scope, { params }),
    (text) => save(String(text), 'reconciliation.csv'),
  );
  return (
    <Panel title="Copies" note="Every address with its path, reference and counts, to compare with the old wallet">
      {addresses > SAVED_MAX ? (
        <p class="faint">
          {number(addresses)} addresses are too many for a browser: read <code>reconciliation</code> and{' '}
          <code>export</code> of the project with an API key.
        </p>
      ) : (
        <>
          <Form sending={reconcile} label="Save the reconciliation" inline />
          <Export scope={scope} projectId={projectId} />
        </>
      )}
    </Panel>
  );
}

function Export({ scope, projectId }: { scope: OfProject['scope']; projectId: string }): JSX.Element {
  const params = { projectId };
  const [format, setFormat] = useState<ExportFormat>('CSV');
  const plan = useRead('getExportPlan', scope, { params, query: { format } });
  const { file, showsKeys } = FORMATS[format];
  const copy = useSend<unknown>(
    () =>
      showsKeys
        ? askWithFactor(
            'The file shows whole extended keys: with them every address below can be seen.',
            'exportProject',
            scope,
            () => ({
              params,
              query: { format },
            }),
          )
        : ask('exportProject', scope, { params, query: { format } }),
    (text) => save(String(text), file),
  );
  return (
    <>
      <Choice
        name="format"
        label="Format of the addresses"
        value={format}
        options={EXPORT_FORMATS.map((one) => [one, FORMATS[one].name] as const)}
        onChange={(value) => setFormat(EXPORT_FORMATS.find((one) => one === value) ?? 'CSV')}
      />
      <Shown read={plan} rows={3}>
        {(found) => (
          <>
            <Planned plan={found} />
            {found.inexpressible.length > 0 ? null : showsKeys && !may('owner') ? (
              <p class="faint">The file shows whole extended keys: an owner saves it, with a second factor.</p>
            ) : (
              <Form sending={copy} label="Save the addresses" inline />
            )}
          </>
        )}
      </Shown>
    </>
  );
}

function Planned({ plan }: { plan: ReplyOf<'getExportPlan'> }): JSX.Element {
  const { rows, expressible, inexpressible, loses, bytes } = plan;
  return (
    <Facts
      rows={[
        ['Addresses', `${number(expressible)} of ${number(rows)}`],
        ['Bytes', number(bytes)],
        ['Left out of the file', loses.length === 0 ? 'Nothing' : loses.map((field) => LOST[field]).join(', ')],
        ...(inexpressible.length === 0
          ? []
          : [
              [
                'Not in this format',
                inexpressible.map(({ reason, count }) => `${number(count)}: ${WHY[reason]}`).join('; '),
              ] as const,
            ]),
      ]}
    />
  );
}
