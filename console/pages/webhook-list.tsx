/** Endpoints of the account. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ask, may } from '../app/ask.ts';
import { filter, hrefOf, place } from '../app/location.ts';
import type { PageProps } from '../app/page.ts';
import { readAgain, useRead } from '../app/read.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Form, useSend } from '../ui/form.tsx';
import { Head, Panel, Status, Text, Time } from '../ui/parts.tsx';
import { Secret } from '../ui/secret.tsx';
import { Empty, Shown } from '../ui/states.tsx';
import { Pager, Table } from '../ui/table.tsx';
import { queryOf } from './addresses.tsx';
import { EndpointFields, endpointOf } from './webhook-form.tsx';

export function Webhooks({ scope }: PageProps): JSX.Element {
  const read = useRead('listWebhooks', scope, { query: queryOf(['after']) as never }, { live: true });
  const [secret, setSecret] = useState<string | null>(null);
  const create = may('editor') && (
    <button type="button" class="button primary" onClick={() => filter({ new: '1' })}>
      Register an endpoint
    </button>
  );
  return (
    <>
      <Head
        title="Endpoints"
        note={
          <>
            Where your edge posts events to.{' '}
            {scope.environment === 'sandbox' && may('editor') && (
              <a href={hrefOf(scope, '/sandbox')}>Simulate a deposit</a>
            )}
          </>
        }
        actions={create}
      />
      <Panel>
        <Shown read={read}>
          {(page) =>
            page.content.length === 0 ? (
              <Empty title="No endpoint yet" action={create}>
                Register the URL of your application. Its secret is shown once; with it you verify what arrives.
              </Empty>
            ) : (
              <>
                <Table
                  caption="Endpoints"
                  rows={page.content}
                  keyOf={({ id }) => id}
                  columns={[
                    {
                      name: 'URL',
                      cell: ({ id, url }) => (
                        <a href={hrefOf(scope, `/webhooks/${id}`)}>
                          <Text of={url} />
                        </a>
                      ),
                    },
                    { name: 'Events', cell: ({ events }) => `${events.length}` },
                    { name: 'Status', cell: ({ status }) => <Status of={status} /> },
                    {
                      name: 'Secret',
                      cell: ({ secretPreview, rotating }) => (
                        <>
                          <code>{secretPreview}</code>
                          {rotating && ' · rotating'}
                        </>
                      ),
                      wideOnly: true,
                    },
                    { name: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
                  ]}
                />
                <Pager of={page} what="endpoints" />
              </>
            )
          }
        </Shown>
      </Panel>
      {place.value.query['new'] !== undefined && secret === null && may('editor') && (
        <Register scope={scope} onSecret={setSecret} />
      )}
      {secret !== null && (
        <Secret
          title={`Secret of the endpoint (${scope.environment})`}
          what="Verify every delivery with it before you parse the body."
          text={secret}
          fileName="webhook-secret.txt"
          onDone={() => {
            setSecret(null);
            filter({ new: undefined });
          }}
        />
      )}
    </>
  );
}

function Register({ scope, onSecret }: Pick<PageProps, 'scope'> & { onSecret: (secret: string) => void }): JSX.Element {
  const close = (): void => filter({ new: undefined });
  const sending = useSend(
    (values, idempotencyKey) => ask('createWebhook', scope, { idempotencyKey, body: endpointOf(values) }),
    ({ secret }) => {
      readAgain('listWebhooks');
      onSecret(secret);
    },
  );
  return (
    <Dialog title={`Register an endpoint in ${scope.environment}`} onClose={close} wide>
      <Form sending={sending} label="Register" onCancel={close}>
        <EndpointFields />
      </Form>
    </Dialog>
  );
}
