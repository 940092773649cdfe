/** Staff begins to read an organization: this tab then shows its console as a viewer sees it. */
import type { JSX } from 'preact';
import type { Environment } from '../../protocol/slugs.ts';
import { askWithFactor } from '../app/ask.ts';
import { go, hrefOf, place } from '../app/location.ts';
import { readAs } from '../app/session.ts';
import { Choice, Field, Form, useSend } from '../ui/form.tsx';
import { Head, Panel } from '../ui/parts.tsx';

export function SupportSessions(): JSX.Element {
  const sending = useSend(
    ({ organizationId = '', environment = 'live', reason = '' }) =>
      askWithFactor('You read an organization as its staff.', 'startSupportSession', null, () => ({
        body: { organizationId: organizationId.trim(), environment: environment as Environment, reason: reason.trim() },
      })),
    (begun) => {
      readAs(begun);
      go(hrefOf(begun, '/'));
    },
  );
  return (
    <>
      <Head title="Support sessions" note="Read an organization for an hour, while one of its owners allows it." />
      {place.value.query['ended'] !== undefined && (
        <p class="notice warn" role="status">
          The session is over: its hour has passed, or an owner ended it.
        </p>
      )}
      <Panel title="Begin" note="Its owners are mailed your email and the reason, and may end it at once">
        <Form sending={sending} label="Read it">
          <Field
            label="Organization"
            name="organizationId"
            required
            placeholder="org_…"
            pattern="\s*org_[a-z2-7]{26}\s*"
          />
          <Choice
            label="Environment"
            name="environment"
            options={[
              ['live', 'Live'],
              ['sandbox', 'Sandbox'],
            ]}
            value="live"
          />
          <Field label="Reason" name="reason" required maxLength={500} hint="Its owners read it." />
        </Form>
      </Panel>
    </>
  );
}
