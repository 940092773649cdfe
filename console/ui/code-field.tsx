/** Where a code of the authenticator app is typed, and where one of the recovery codes is. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Field, type Values } from './form.tsx';

/** What a person types, as the service reads it: apps show codes with a gap in the middle. */
export const codeIn = (typed: string | undefined): string => (typed ?? '').replace(/\s/g, '');

const focusOn = (input: HTMLInputElement | null): void => input?.focus();

/** Six digits, as `totp` of the form. `focused`: where it appears after the rest of a form. */
export function CodeField({
  label = 'Code of your authenticator app',
  focused = false,
}: {
  label?: string;
  focused?: boolean;
}): JSX.Element {
  return (
    <Field
      label={label}
      name="totp"
      inputMode="numeric"
      autocomplete="one-time-code"
      pattern="[0-9 ]{6,7}"
      maxLength={7}
      required
      autofocus
      class="totp"
      {...(focused ? { inputRef: focusOn } : {})}
    />
  );
}

export type FactorBy = 'totp' | 'recoveryCode';

/** A code of the app, or a recovery code where the device is lost; `proofOf` reads what was typed. */
export function FactorField({ first = 'totp', focused = true }: { first?: FactorBy; focused?: boolean }): JSX.Element {
  const [by, setBy] = useState(first);
  return (
    <>
      {by === 'totp' ? <CodeField focused={focused} /> : <RecoveryCodeField />}
      <button type="button" class="link" onClick={() => setBy(by === 'totp' ? 'recoveryCode' : 'totp')}>
        {by === 'totp' ? 'The device is lost: use a recovery code' : 'Use a code of the app'}
      </button>
    </>
  );
}

/** What of a form proves a factor, as a request has it. */
export const proofOf = ({ totp, recoveryCode }: Values): { totp?: string; recoveryCode?: string } => ({
  ...(totp === undefined ? {} : { totp: codeIn(totp) }),
  ...(recoveryCode === undefined ? {} : { recoveryCode: recoveryCode.trim() }),
});

/** Six groups of four, as `recoveryCode` of the form. */
export function RecoveryCodeField(): JSX.Element {
  return (
    <Field
      label="Recovery code"
      name="recoveryCode"
      autocomplete="off"
      maxLength={48}
      required
      autofocus
      inputRef={focusOn}
      hint="Each is good once. Spaces, dashes and case do not matter."
    />
  );
}
