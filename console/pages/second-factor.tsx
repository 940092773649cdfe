/** The second factor of the signed-in user: codes of an authenticator app. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { isRefusal } from '../../protocol/errors.ts';
import { ask, askWithFactor } from '../app/ask.ts';
import { readAgain } from '../app/read.ts';
import { signedIn } from '../app/session.ts';
import { Field, Form, useSend } from '../ui/form.tsx';
import { Code, Panel } from '../ui/parts.tsx';
import { Qr } from '../ui/qr.tsx';

export function SecondFactor({ note }: { note: string }): JSX.Element {
  const [begun, setBegun] = useState<{ secret: string; otpauthUri: string } | null>(null);
  const [isDone, setDone] = useState(false);
  const begin = useSend(
    () => askWithFactor('A new device takes the place of the one you have.', 'enrolTotp', null, () => ({})),
    (made) => {
      setDone(false);
      setBegun(made);
    },
  );
  const confirm = useSend(
    async ({ totp = '' }) => {
      const answer = await ask('confirmTotp', null, { body: { totp: totp.replace(/\s/g, '') } });
      if (!isRefusal(answer.outcome)) signedIn(answer.outcome);
      return answer;
    },
    () => {
      setBegun(null);
      setDone(true);
      readAgain('getMe');
    },
  );
  return (
    <Panel title="Second factor" note={note}>
      {begun === null ? (
        <>
          <p>Making API keys and deciding rotations need one.</p>
          <Form sending={begin} label="Set up an authenticator app" />
        </>
      ) : (
        <>
          <div class="address-card">
            <Qr text={begun.otpauthUri} label="QR code for the authenticator app" />
            <div>
              <p>Scan it, or type this secret into the app. It is shown this once.</p>
              <Code of={begun.secret} whole />
            </div>
          </div>
          <Form sending={confirm} label="Confirm" onCancel={() => setBegun(null)}>
            <Field
              label="The code that it shows"
              name="totp"
              inputMode="numeric"
              autocomplete="one-time-code"
              pattern="[0-9 ]{6,7}"
              maxLength={7}
              required
              class="totp"
            />
          </Form>
        </>
      )}
      <p class="said" role="status">
        {isDone && 'The second factor is set up.'}
      </p>
    </Panel>
  );
}
