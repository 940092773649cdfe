/** The one dialog that asks for a code of the authenticator app. Console C9. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { codeAsked, PASSKEY, type CodeAsked } from '../app/ask.ts';
import { hasPasskeys } from '../app/passkey.ts';
import { useRead } from '../app/read.ts';
import { CodeField, codeIn } from './code-field.tsx';
import { Dialog } from './dialog.tsx';
import { Form } from './form.tsx';

const STEP_SECONDS = 30;
const left = (): number => STEP_SECONDS - (Math.floor(Date.now() / 1_000) % STEP_SECONDS);

const WORDS: Readonly<Record<string, string>> = {
  invalid: 'That code is not right. Enter the one that the app shows now.',
  used: 'That code was used already. Wait for the next one.',
  locked: 'Too many wrong codes: the second factor is locked for a while.',
};

function Asked({ what, refusal, answer }: CodeAsked): JSX.Element {
  const reason = String(refusal.details['reason'] ?? '');
  const [seconds, setSeconds] = useState(left());
  const me = useRead('getMe', null).data;
  const byPasskey = hasPasskeys() && (me?.passkeys ?? 0) > 0;
  useEffect(() => {
    const timer = setInterval(() => setSeconds(left()), 1_000);
    return () => clearInterval(timer);
  }, []);
  const sending = {
    busy: false,
    failed: null,
    submit: async ({ totp }: Readonly<Record<string, string>>) => answer(codeIn(totp)),
  };
  return (
    <Dialog title="Confirm with your second factor" onClose={() => answer(null)}>
      <p>{what}</p>
      {WORDS[reason] !== undefined && (
        <p class="notice warn" role="alert">
          {WORDS[reason]} {reason === 'used' && `The next code comes in ${seconds} s.`}
        </p>
      )}
      {byPasskey && (
        <button type="button" class="button" onClick={() => answer(PASSKEY)}>
          Use a passkey
        </button>
      )}
      {me?.totp !== false && (
        <Form sending={sending} label="Confirm" onCancel={() => answer(null)}>
          <CodeField />
        </Form>
      )}
    </Dialog>
  );
}

export function CodeDialog(): JSX.Element | null {
  const asked = codeAsked.value;
  return asked === null ? null : <Asked key={asked.refusal} {...asked} />;
}
