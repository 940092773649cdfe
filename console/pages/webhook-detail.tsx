/** One endpoint: its events, its secret, what was posted to it. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ReplyOf } from '../../protocol/routes.ts';
import { ask, may } from '../app/ask.ts';
import { go, hrefOf } from '../app/location.ts';
import type { PageProps } from '../app/page.ts';
import { readAgain, useRead } from '../app/read.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Form, useSend } from '../ui/form.tsx';
import { Code, Facts, Head, Instant, Panel, Status } from '../ui/parts.tsx';
import { Secret } from '../ui/secret.tsx';
import { Empty, Shown } from '../ui/states.tsx';
import { plain, words } from '../ui/text.ts';
import { DeliveryTable } from './deliveries.tsx';
import { EndpointFields, endpointOf } from './webhook-form.tsx';
import { WebhookTest } from './webhook-test.tsx';

type Webhook = ReplyOf<'getWebhook'>;
type Open = 'test' | 'edit' | 'rotate' | 'drop' | 'delete' | null;

export function WebhookDetail({ scope, params }: PageProps): JSX.Element {
  const read = useRead('getWebhook', scope, { params: { webhookId: params['id']! } });
  return (
    <>
      <p class="crumbs">
        <a href={hrefOf(scope, '/webhooks')}>Endpoints</a>
      </p>
      <Shown read={read}>{(webhook) => <Whole scope={scope} webhook={webhook} />}</Shown>
    </>
  );
}

function Whole({ scope, webhook }: Pick<PageProps, 'scope'> & { webhook: Webhook }): JSX.Element {
  const [open, setOpen] = useState<Open>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const deliveries = useRead(
    'listWebhookDeliveries',
    scope,
    { params: { webhookId: webhook.id }, query: { size: '20' } },
    { live: true },
  );
  const isAlive = webhook.status !== 'deleted';
  const button = (what: Exclude<Open, null>, label: string) => (
    <button type="button" class={`button ${what === 'delete' ? 'danger' : ''}`} onClick={() => setOpen(what)}>
      {label}
    </button>
  );
  return (
    <>
      <Head
        title={<bdi class="break">{plain(webhook.url)}</bdi>}
        note={<Status of={webhook.status} />}
        actions={
          isAlive &&
          may('editor') && (
            <>
              {webhook.status === 'enabled' && button('test', 'Test')}
              {button('edit', 'Edit')}
              {button('rotate', 'New secret')}
              {webhook.rotating && button('drop', 'Drop the previous secret')}
              {button('delete', 'Delete')}
            </>
          )
        }
      />
      <div class="columns">
        <Panel title="Endpoint">
          <Facts
            rows={[
              ['Id', <Code of={webhook.id} whole />],
              ['Secret', <code>{webhook.secretPreview}</code>],
              ['Signatures', webhook.rotating ? 'Of the new and of the previous secret' : 'Of one secret'],
              ['Created', <Instant at={webhook.createdAt} />],
              ['Changed', <Instant at={webhook.updatedAt} />],
            ]}
          />
        </Panel>
        <Panel title="Events" note={`${webhook.events.length} of them`}>
          <ul class="tags">
            {webhook.events.map((name) => (
              <li key={name}>{words(name)}</li>
            ))}
          </ul>
        </Panel>
      </div>
      <Panel
        title="Deliveries"
        actions={<a href={hrefOf(scope, '/deliveries', { webhookId: webhook.id })}>All of them</a>}
      >
        <Shown read={deliveries}>
          {(page) =>
            page.content.length === 0 ? (
              <Empty title="Nothing was posted yet">The next event of these kinds goes here.</Empty>
            ) : (
              <DeliveryTable scope={scope} rows={page.content} />
            )
          }
        </Shown>
      </Panel>
      {open === 'test' && <WebhookTest scope={scope} webhookId={webhook.id} close={() => setOpen(null)} />}
      {open !== null && open !== 'test' && (
        <Change scope={scope} webhook={webhook} open={open} close={() => setOpen(null)} onSecret={setSecret} />
      )}
      {secret !== null && (
        <Secret
          title={`New secret (${scope.environment})`}
          what="Deliveries carry the signatures of this and of the previous secret until you drop the previous one."
          text={secret}
          fileName="webhook-secret.txt"
          onDone={() => setSecret(null)}
        />
      )}
    </>
  );
}

const TITLES = {
  edit: 'Edit the endpoint',
  rotate: 'Make a new secret',
  drop: 'Drop the previous secret',
  delete: 'Delete the endpoint',
} as const;
const NOTES = {
  edit: '',
  rotate:
    'From now on deliveries carry two signatures. Put the new secret into your application, then drop the previous one.',
  drop: 'Deliveries carry the signature of the new secret alone. What your edge has in its hands was signed with both, for two minutes at most.',
  delete: 'Nothing more leaves for it. What waits stays as held; its history is kept.',
} as const;

function Change({
  scope,
  webhook,
  open,
  close,
  onSecret,
}: Pick<PageProps, 'scope'> & {
  webhook: Webhook;
  open: Exclude<Open, 'test' | null>;
  close: () => void;
  onSecret: (secret: string) => void;
}): JSX.Element {
  const params = { webhookId: webhook.id };
  const sending = useSend<Webhook>(
    (values, idempotencyKey) => {
      if (open === 'edit') return ask('replaceWebhook', scope, { idempotencyKey, params, body: endpointOf(values) });
      if (open === 'rotate') return ask('rotateWebhookSecret', scope, { idempotencyKey, params });
      if (open === 'drop') return ask('dropPreviousWebhookSecret', scope, { idempotencyKey, params });
      return ask('deleteWebhook', scope, { idempotencyKey, params });
    },
    (reply) => {
      readAgain('getWebhook', 'listWebhooks');
      close();
      if ('secret' in reply && typeof reply.secret === 'string') onSecret(reply.secret);
      if (open === 'delete') go(hrefOf(scope, '/webhooks'));
    },
  );
  return (
    <Dialog title={`${TITLES[open]} (${scope.environment})`} onClose={close} wide={open === 'edit'}>
      {NOTES[open] !== '' && <p>{NOTES[open]}</p>}
      <Form sending={sending} label={TITLES[open]} danger={open === 'delete'} onCancel={close}>
        {open === 'edit' && <EndpointFields url={webhook.url} events={webhook.events} />}
      </Form>
    </Dialog>
  );
}
