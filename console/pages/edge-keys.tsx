/** Local keys of the edge, as it reported them: an owner asks for the end of one, the edge ends it. Console A34. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ReplyOf } from '../../protocol/routes.ts';
import { ask, may } from '../app/ask.ts';
import type { PageProps } from '../app/page.ts';
import { readAgain, useRead } from '../app/read.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Form, useSend } from '../ui/form.tsx';
import { Code, Panel, Status, Text, Time } from '../ui/parts.tsx';
import { Shown } from '../ui/states.tsx';
import { Table } from '../ui/table.tsx';
import { words } from '../ui/text.ts';

type EdgeKey = ReplyOf<'listEdgeKeys'>['content'][number];

/** The newest keys: as many as one answer holds. */
const SHOWN = '200';

export function EdgeKeys({ scope }: Pick<PageProps, 'scope'>): JSX.Element {
  const read = useRead('listEdgeKeys', scope, { query: { size: SHOWN } }, { live: true });
  const [revoked, setRevoked] = useState<EdgeKey | null>(null);
  return (
    <Panel title="Local keys of the edge">
      <Shown read={read}>
        {({ content }) =>
          content.length === 0 ? (
            <p>The edge has reported none. Your edge makes them, for your own programs; this page never sees one.</p>
          ) : (
            <Table
              caption="Local keys of the edge"
              rows={content}
              keyOf={({ id }) => id}
              columns={[
                { name: 'Label', cell: ({ label }) => <Text of={label} /> },
                { name: 'Begins', cell: ({ prefix }) => <code>{prefix}</code> },
                {
                  name: 'Status',
                  cell: ({ status }) => (
                    <Status of={status === 'revoking' ? 'pending' : status} label={words(status)} />
                  ),
                },
                { name: 'Made', cell: ({ createdAt }) => <Time at={createdAt} />, wideOnly: true },
                { name: 'Id', cell: ({ id }) => <Code of={id} />, wideOnly: true },
                {
                  name: 'Action',
                  align: 'right',
                  cell: (key) =>
                    key.status === 'active' && may('owner') ? (
                      <button type="button" class="button small" onClick={() => setRevoked(key)}>
                        Revoke
                      </button>
                    ) : null,
                },
              ]}
            />
          )
        }
      </Shown>
      {revoked !== null && <Revoke scope={scope} edgeKey={revoked} close={() => setRevoked(null)} />}
    </Panel>
  );
}

function Revoke({
  scope,
  edgeKey,
  close,
}: Pick<PageProps, 'scope'> & { edgeKey: EdgeKey; close: () => void }): JSX.Element {
  const sending = useSend(
    (_values, idempotencyKey) => ask('revokeEdgeKey', scope, { idempotencyKey, params: { id: edgeKey.id } }),
    () => {
      readAgain('listEdgeKeys');
      close();
    },
  );
  return (
    <Dialog title={`Revoke the local key (${scope.environment})`} onClose={close}>
      <p>
        The edge is asked to end <Text of={edgeKey.label} /> <code>{edgeKey.prefix}</code> and every key that was made
        with it. While no edge is connected it waits. This cannot be taken back.
      </p>
      <Form sending={sending} label="Revoke" danger onCancel={close} />
    </Dialog>
  );
}
