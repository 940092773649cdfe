/** Which chains take payments now, and from which amount on it is worth it. payments P23. */
import type { ComponentChildren, JSX } from 'preact';
import { NETWORK_NAMES } from '../../protocol/network-names.ts';
import { hrefOf } from '../app/location.ts';
import type { PageProps } from '../app/page.ts';
import { useRead } from '../app/read.ts';
import { Amount, Head, Meter, Panel, Status, Time } from '../ui/parts.tsx';
import { Shown } from '../ui/states.tsx';
import { grouped } from '../ui/text.ts';
import { NotActive } from './payment-parts.tsx';
import { NOT_READY } from './payment-words.ts';

export function PaymentReadiness({ scope }: PageProps): JSX.Element {
  const read = useRead('getPaymentReadiness', scope, undefined, { live: true });
  return (
    <>
      <Head
        title="Readiness"
        note="Which networks take payments now. Minimums follow the fee of bringing one payment home, read each minute."
      />
      <NotActive scope={scope} />
      <Shown read={read} rows={8}>
        {({ content }) => (
          <div class="columns">
            {content.map((row) => (
              <Panel
                key={row.chain}
                title={NETWORK_NAMES[row.chain]}
                actions={
                  <Status
                    of={row.ready ? 'ready' : 'not_ready'}
                    tone={row.ready ? 'good' : row.reason === 'quarantined' ? 'warn' : 'bad'}
                    label={row.ready ? 'Ready' : 'Not ready'}
                  />
                }
              >
                {row.reason !== null && (
                  <p>
                    {NOT_READY[row.reason]}.{' '}
                    {row.reason === 'not_ready' && <a href={hrefOf(scope, '/edge')}>See the edge</a>}
                    {row.reason === 'quarantined' && <a href={hrefOf(scope, '/rotations')}>See the rotation</a>}
                  </p>
                )}
                <dl class="facts">
                  <Fact name={`Least in ${row.asset}`}>
                    {row.nativeMinimum === null ? 'Unknown' : <Amount value={row.nativeMinimum} symbol={row.asset} />}
                  </Fact>
                  <Fact name="Fee of one sweep">
                    {row.estimatedSweepFee === null ? (
                      'Unknown'
                    ) : (
                      <>
                        <Amount value={row.estimatedSweepFee} symbol={row.asset} />{' '}
                        <span class="faint">
                          read <Time at={row.feeAsOf} />
                        </span>
                      </>
                    )}
                  </Fact>
                  <Fact name="Tokens">
                    {row.tokens.length === 0 ? (
                      '–'
                    ) : (
                      <ul class="tags">
                        {row.tokens.map(({ contract, symbol, minimum }) => (
                          <li key={contract} title={contract}>
                            {symbol} {minimum === '0' ? '' : `from ${grouped(minimum)}`}
                          </li>
                        ))}
                      </ul>
                    )}
                  </Fact>
                  <Fact name="Confirmations">{row.threshold}</Fact>
                  <Fact name="Addresses that rest">{grouped(String(row.unpaidAddresses.resting))}</Fact>
                  <Fact name="Gap limit to restore">
                    {row.gapLimitNeeded === null ? (
                      'Counted within a day'
                    ) : (
                      <>
                        {grouped(String(row.gapLimitNeeded))}{' '}
                        <span class="faint">
                          counted <Time at={row.gapLimitAsOf} />
                        </span>
                      </>
                    )}
                  </Fact>
                  <Fact name="Signed ahead">{grouped(String(row.attestationsAhead))} addresses</Fact>
                </dl>
                <Meter label="Unpaid addresses" used={row.unpaidAddresses.open} limit={row.unpaidAddresses.limit} />
              </Panel>
            ))}
          </div>
        )}
      </Shown>
    </>
  );
}

const Fact = ({ name, children }: { name: string; children: ComponentChildren }): JSX.Element => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);
