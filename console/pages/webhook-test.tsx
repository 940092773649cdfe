/** A test of an endpoint: a good and a broken signature, and how both were answered. Ecosystem X21. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ReplyOf } from '../../protocol/routes.ts';
import { faultOf } from '../../protocol/webhook-fault.ts';
import { ask } from '../app/ask.ts';
import type { PageProps } from '../app/page.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Form, useSend } from '../ui/form.tsx';
import { Facts } from '../ui/parts.tsx';
import { plain } from '../ui/text.ts';

type Tested = ReplyOf<'testWebhook'>;

export function WebhookTest({
  scope,
  webhookId,
  close,
}: Pick<PageProps, 'scope'> & { webhookId: string; close: () => void }): JSX.Element {
  const [tested, setTested] = useState<Tested | null>(null);
  const sending = useSend<Tested>(
    (_values, idempotencyKey) => ask('testWebhook', scope, { idempotencyKey, params: { webhookId } }),
    setTested,
  );
  return (
    <Dialog title={`Test the endpoint (${scope.environment})`} onClose={close}>
      <p>Your edge posts a test event with a good signature, then one with a broken signature that must be refused.</p>
      {tested !== null && <Outcome of={tested} />}
      <Form sending={sending} label={tested === null ? 'Test' : 'Test again'} onCancel={close} />
    </Dialog>
  );
}

function Outcome({ of }: { of: Tested }): JSX.Element {
  return (
    <div role="status">
      <Facts
        rows={of.attempts.map(({ signature, statusCode, error, durationMs, passed }) => [
          signature === 'good' ? 'Good signature' : 'Broken signature',
          `${passed ? 'As it must be' : 'Not as it must be'}: ${statusCode ?? plain(error ?? 'no answer')}, ${durationMs} ms`,
        ])}
      />
      <p>{faultOf(of) ?? 'The endpoint takes what is yours, and refuses what is not.'}</p>
    </div>
  );
}
