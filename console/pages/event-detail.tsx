/** One event: the body byte for byte as it is signed, and who got it. Console 5.4, C17. */
import type { JSX } from 'preact';
import { hrefOf } from '../app/location.ts';
import type { PageProps } from '../app/page.ts';
import { useRead } from '../app/read.ts';
import { Code, Copy, Head, Instant, Panel } from '../ui/parts.tsx';
import { Empty, Shown } from '../ui/states.tsx';
import { words } from '../ui/text.ts';
import { DeliveryTable } from './deliveries.tsx';

export function EventDetail({ scope, params }: PageProps): JSX.Element {
  const id = params['id']!;
  const read = useRead('getEvent', scope, { params: { id } }, { live: true });
  return (
    <>
      <p class="crumbs">
        <a href={hrefOf(scope, '/deliveries')}>Deliveries</a>
      </p>
      <Shown read={read}>
        {({ event, createdAt, body, deliveries }) => (
          <>
            <Head
              title={words(event)}
              note={
                <>
                  <Instant at={createdAt} /> · <Code of={id} />
                </>
              }
              actions={
                body !== null && (
                  <a class="button" href={hrefOf(scope, '/signature', { event: id })}>
                    Check a signature of it
                  </a>
                )
              }
            />
            <Panel title="Body" note="Byte for byte what is signed and posted">
              {body === null ? (
                <Empty title="The body is no longer kept">Bodies are kept for 30 days.</Empty>
              ) : (
                <div class="body-text">
                  <pre tabIndex={0} aria-label="Body of the event">
                    {body}
                  </pre>
                  <Copy text={body} label="Copy the body" />
                </div>
              )}
            </Panel>
            <Panel title="Deliveries">
              {deliveries.length === 0 ? (
                <Empty title="No endpoint got it">None was subscribed to it, or they are older than seven days.</Empty>
              ) : (
                <DeliveryTable scope={scope} rows={deliveries} />
              )}
            </Panel>
          </>
        )}
      </Shown>
    </>
  );
}
