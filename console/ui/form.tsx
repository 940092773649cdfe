/**
 * Forms. Each carries an Idempotency-Key made with it, blocks only its own button, keeps what was typed after an error
 * and moves the focus to the first wrong field. Console C9.
 */
import { createContext, type ComponentChildren, type InputHTMLAttributes, type JSX } from 'preact';
import { useContext, useEffect, useId, useRef, useState } from 'preact/hooks';
import type { Answered } from '../../protocol/client.ts';
import { isRefusal, type Refusal } from '../../protocol/errors.ts';
import type { Failed } from '../app/read.ts';
import { Failure } from './states.tsx';

/** A new key of a request that may be repeated. */
export const newKey = (): string =>
  typeof crypto.randomUUID === 'function'
    ? crypto.randomUUID()
    : [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');

export type Values = Readonly<Record<string, string>>;

/** Asks once at a time. `send` answers null where the reader stepped back. */
export function useSend<T>(
  send: (values: Values, idempotencyKey: string) => Promise<Answered<T> | null>,
  done: (reply: T) => void,
): { busy: boolean; failed: Failed | null; submit(values: Values): Promise<void> } {
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<Failed | null>(null);
  const key = useRef(newKey());
  const isBusy = useRef(false);
  return {
    busy,
    failed,
    async submit(values) {
      if (isBusy.current) return;
      isBusy.current = true;
      setBusy(true);
      try {
        const answer = await send(values, key.current);
        if (answer === null) return;
        if (isRefusal(answer.outcome)) {
          setFailed({ refusal: answer.outcome, requestId: answer.requestId });
          // The same request may be tried again under its key; another body is another request.
          if (answer.status < 500) key.current = newKey();
          return;
        }
        key.current = newKey();
        setFailed(null);
        done(answer.outcome);
      } finally {
        isBusy.current = false;
        setBusy(false);
      }
    },
  };
}

const valuesOf = (form: HTMLFormElement): Values =>
  Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, typeof value === 'string' ? value : '']));

export function Form({
  sending,
  label,
  children,
  onCancel,
  danger = false,
  inline = false,
}: {
  sending: { busy: boolean; failed: Failed | null; submit(values: Values): Promise<void> };
  label: string;
  children?: ComponentChildren;
  onCancel?: () => void;
  danger?: boolean;
  inline?: boolean;
}): JSX.Element {
  const form = useRef<HTMLFormElement>(null);
  const wrong = sending.failed?.refusal.details['field'];
  useEffect(() => {
    if (sending.failed === null) return;
    const field = typeof wrong === 'string' ? form.current?.elements.namedItem(wrong.split('.').at(-1)!) : null;
    if (field instanceof HTMLElement) field.focus();
  }, [sending.failed]);
  return (
    <form
      ref={form}
      class={inline ? 'form inline' : 'form'}
      onSubmit={(event) => {
        event.preventDefault();
        void sending.submit(valuesOf(event.currentTarget));
      }}
    >
      <Wrong.Provider value={sending.failed}>{children}</Wrong.Provider>
      {sending.failed !== null && <Failure failed={sending.failed} />}
      <div class="form-foot">
        <button type="submit" class={`button ${danger ? 'danger' : 'primary'}`} disabled={sending.busy}>
          {sending.busy ? 'Working …' : label}
        </button>
        {onCancel !== undefined && (
          <button type="button" class="button" onClick={onCancel}>
            Cancel
          </button>
        )}
      </div>
    </form>
  );
}

type InputProps = Pick<
  InputHTMLAttributes<HTMLInputElement>,
  | 'autocomplete'
  | 'autofocus'
  | 'class'
  | 'inputMode'
  | 'max'
  | 'maxLength'
  | 'min'
  | 'pattern'
  | 'placeholder'
  | 'readOnly'
  | 'required'
  | 'title'
> & {
  label: string;
  name: string;
  value?: string;
  type?: 'text' | 'email' | 'password' | 'url' | 'number' | 'datetime-local';
  inputRef?: (input: HTMLInputElement | null) => void;
  hint?: ComponentChildren;
};

/** Why the form around a field was refused. */
const Wrong = createContext<Failed | null>(null);
/** Whether it names this field. */
function useIsWrong(name: string): true | undefined {
  const field = useContext(Wrong)?.refusal.details['field'];
  return typeof field === 'string' && field.split('.').at(-1) === name ? true : undefined;
}

export function Field({ label, hint, inputRef, value, ...input }: InputProps): JSX.Element {
  const id = useId();
  // Attributes that go together with a type are the caller's to choose.
  const given = {
    autocomplete: 'off',
    spellcheck: false,
    ...input,
    ref: inputRef,
    defaultValue: value,
    'aria-invalid': useIsWrong(input.name),
    'aria-describedby': hint === undefined ? undefined : `${id}-hint`,
  } as InputHTMLAttributes<HTMLInputElement>;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input {...given} id={id} />
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

export function Choice({
  label,
  name,
  options,
  value,
  onChange,
  hint,
}: {
  label: string;
  name: string;
  options: readonly (readonly [string, string])[];
  value?: string;
  onChange?: (value: string) => void;
  hint?: string;
}): JSX.Element {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {/* What nobody follows is the reader's: a value that is set anew would take the choice back with each paint. */}
      <select id={id} name={name} value={onChange && value} onChange={(event) => onChange?.(event.currentTarget.value)}>
        {options.map(([slug, shown]) => (
          <option key={slug} value={slug} selected={slug === value}>
            {shown}
          </option>
        ))}
      </select>
      {hint !== undefined && <p class="hint">{hint}</p>}
    </div>
  );
}

/** Text of several lines. */
export function Area({
  label,
  name,
  value,
  hint,
  rows = 3,
  maxLength,
  placeholder,
}: Pick<InputProps, 'label' | 'name' | 'value' | 'hint' | 'maxLength' | 'placeholder'> & {
  rows?: number;
}): JSX.Element {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        name={name}
        rows={rows}
        spellcheck={false}
        maxLength={maxLength}
        placeholder={placeholder}
        defaultValue={value}
        aria-invalid={useIsWrong(name)}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
      />
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

/** Yes or no. */
export function Tick({
  label,
  name,
  checked,
  hint,
}: {
  label: string;
  name: string;
  checked?: boolean;
  hint?: string;
}): JSX.Element {
  const id = useId();
  return (
    <div class="tick">
      <input
        id={id}
        type="checkbox"
        name={name}
        defaultChecked={checked}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
      />
      <div>
        <label for={id}>{label}</label>
        {hint !== undefined && (
          <p class="hint" id={`${id}-hint`}>
            {hint}
          </p>
        )}
      </div>
    </div>
  );
}

/** What a page refuses by itself, as if it had been answered. */
export const answeredBy = (outcome: Refusal): Answered<never> => ({
  status: 400,
  requestId: null,
  replayed: false,
  retryAfterSeconds: null,
  outcome,
});
