/** The fields of an endpoint. */
import type { JSX } from 'preact';
import { EVENTS, type EventName } from '../../protocol/slugs.ts';
import { Field, type Values } from '../ui/form.tsx';
import { words } from '../ui/text.ts';

/** What an application needs first. */
const USUAL: readonly EventName[] = [
  'deposit_detected',
  'deposit_confirmed',
  'deposit_reversed',
  'withdrawal_confirmed',
  'withdrawal_failed',
];

export function EndpointFields({
  url = '',
  events = USUAL,
}: {
  url?: string;
  events?: readonly EventName[];
}): JSX.Element {
  return (
    <>
      <Field
        label="URL"
        name="url"
        type="url"
        required
        autofocus
        maxLength={2_048}
        value={url}
        placeholder="https://example.com/webhooks"
        hint="Your own edge posts to it; the cloud never opens a connection to you."
      />
      <fieldset>
        <legend>Events</legend>
        <div class="checks">
          {EVENTS.map((name) => (
            <label key={name}>
              <input type="checkbox" name={`event:${name}`} defaultChecked={events.includes(name)} /> {words(name)}
            </label>
          ))}
        </div>
      </fieldset>
    </>
  );
}

export const endpointOf = (values: Values): { url: string; events: EventName[] } => ({
  url: (values['url'] ?? '').trim(),
  events: EVENTS.filter((name) => values[`event:${name}`] !== undefined),
});
