/** Whether a delivery carries the signature of a secret: computed in the browser, nothing of it is sent. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { place } from '../app/location.ts';
import type { PageProps } from '../app/page.ts';
import { useRead } from '../app/read.ts';
import { Skeleton } from '../ui/states.tsx';
import { Head, Panel, Status } from '../ui/parts.tsx';
import { Field } from '../ui/form.tsx';
import { checkSignature, type Verdict } from './webhook-signature.ts';

const WORDS: Readonly<Record<Verdict, string>> = {
  valid: 'The signature is of this secret, over exactly this body.',
  old: 'The signature is right. The delivery is more than five minutes old or early: a receiver refuses it.',
  wrong:
    'No signature in the header is of this secret over this body. Compare the raw bytes: a body that was parsed and written again is another one.',
  secret: 'This is no secret of a webhook: it begins with whsec_ and goes on in base64.',
  headers: 'The headers are not those of a delivery: an id, seconds, and v1,… signatures.',
};

/** With an event in the address its id and body are filled in. */
export function SignatureCheck({ scope }: PageProps): JSX.Element {
  const { event: id = '' } = place.value.query;
  const read = useRead('getEvent', scope, { params: { id } }, { skip: id === '' });
  if (id !== '' && read.data === null && read.failure === null) return <Skeleton />;
  return <Check id={id} body={read.data?.body ?? ''} />;
}

function Check({ id, body }: { id: string; body: string }): JSX.Element {
  const [verdict, setVerdict] = useState<Verdict | null>(null);
  return (
    <>
      <Head
        title="Signature check"
        note="Paste a delivery as your application received it. Nothing leaves this page."
      />
      <Panel>
        <form
          class="form"
          onSubmit={async (event) => {
            event.preventDefault();
            const form = new FormData(event.currentTarget);
            const text = (name: string): string => String(form.get(name) ?? '');
            setVerdict(
              await checkSignature({
                secret: text('secret').trim(),
                id: text('id').trim(),
                timestamp: text('timestamp').trim(),
                signature: text('signature').trim(),
                // A form sends line ends as CR LF; deliveries are one line.
                body: text('body').replace(/\r\n/g, '\n'),
                nowMs: Date.now(),
              }),
            );
          }}
        >
          <Field label="Secret" name="secret" type="password" required hint="whsec_…; it stays in this page." />
          <div class="columns tight">
            <Field label="webhook-id" name="id" required value={id} />
            <Field label="webhook-timestamp" name="timestamp" required inputMode="numeric" />
          </div>
          <Field label="webhook-signature" name="signature" required />
          <div class="field">
            <label for="signature-body">Body, byte for byte</label>
            <textarea id="signature-body" name="body" rows={8} spellcheck={false} required defaultValue={body} />
          </div>
          <div class="form-foot">
            <button type="submit" class="button primary">
              Check
            </button>
          </div>
        </form>
        <div aria-live="polite">
          {verdict !== null && (
            <p class={`notice ${verdict === 'valid' ? 'good' : 'warn'}`}>
              <Status
                of={verdict}
                tone={verdict === 'valid' ? 'good' : verdict === 'old' ? 'warn' : 'bad'}
                label={verdict === 'valid' ? 'Valid' : 'Not valid'}
              />{' '}
              {WORDS[verdict]}
            </p>
          )}
        </div>
      </Panel>
    </>
  );
}
