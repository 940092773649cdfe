/** Where a code of the authenticator app is typed, and where one of the recovery codes is. */
import type { JSX } from 'preact';
import { Field } from './form.tsx';

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
