/** The fields of a link that may change later too. payments P4. */
import type { ComponentChildren, JSX } from 'preact';
import { Area, Field, Tick } from '../ui/form.tsx';
import { fieldTime, type Link } from './payment-words.ts';

const DECIMAL = '[0-9]+([.][0-9]+)?';

export function AmountField({
  label,
  name,
  asset,
  value,
  required = false,
  hint,
}: {
  label: string;
  name: string;
  asset: string;
  value?: string | null;
  required?: boolean;
  hint?: ComponentChildren;
}): JSX.Element {
  return (
    <Field
      label={`${label} (${asset})`}
      name={name}
      inputMode="decimal"
      pattern={DECIMAL}
      title="Digits, and a dot before decimals"
      required={required}
      maxLength={60}
      value={value ?? ''}
      hint={hint}
    />
  );
}

/** What payers read and where they go. */
export function ShownFields({ link }: { link?: Link }): JSX.Element {
  return (
    <>
      <Field
        label="Title"
        name="title"
        maxLength={120}
        value={link?.title ?? ''}
        hint="Payers see it above the amount."
        placeholder="Order 1001"
      />
      <Area
        label="Description"
        name="description"
        maxLength={1_000}
        value={link?.description ?? ''}
        hint="Payers see it too. Plain text."
      />
      <Field
        label="Where payers may go on"
        name="successUrl"
        type="url"
        maxLength={2_048}
        value={link?.successUrl ?? ''}
        placeholder="https://example.com/thanks"
        hint="A link on the page once money is seen. A visit of it proves nothing: fulfil by the webhook."
      />
    </>
  );
}

/** Between which sums a donation is, and when it ends. */
export function DonationFields({ link, asset }: { link?: Link; asset: string }): JSX.Element {
  return (
    <>
      <div class="pair">
        <AmountField label="At least" name="minAmount" asset={asset} value={link?.minAmount} />
        <AmountField label="At most" name="maxAmount" asset={asset} value={link?.maxAmount} />
      </div>
      <AmountField
        label="Close at a sum of"
        name="thresholdAmount"
        asset={asset}
        value={link?.thresholdAmount}
        hint="Confirmed money only. A donation needs this or a date."
      />
    </>
  );
}

export function EndFields({ link, isDonation }: { link?: Link; isDonation: boolean }): JSX.Element {
  return (
    <div class="pair">
      <Field
        label="Close on"
        name="closesAt"
        type="datetime-local"
        value={fieldTime(link?.closesAt ?? null)}
        hint="By the clock of this browser."
      />
      {isDonation && (
        <Field
          label="Most payments"
          name="maxUses"
          type="number"
          min={1}
          max={1_000_000}
          value={link?.maxUses === null || link === undefined ? '' : String(link.maxUses)}
        />
      )}
    </div>
  );
}

export function PayerFields({ link }: { link?: Link }): JSX.Element {
  return (
    <>
      <Tick
        label="Ask payers for their e-mail"
        name="collectEmail"
        checked={link?.collectEmail ?? false}
        hint="Each payer then has an address and an invoice of their own."
      />
      <MetadataField link={link} />
    </>
  );
}

export const MetadataField = ({ link }: { link?: Link }): JSX.Element => (
  <Area
    label="Metadata (JSON)"
    name="metadata"
    rows={3}
    maxLength={16_384}
    value={link === undefined || Object.keys(link.metadata).length === 0 ? '' : JSON.stringify(link.metadata, null, 2)}
    placeholder={'{"order": "1001"}'}
    hint="Yours: comes back with every webhook, payers never see it. At most 4,096 bytes."
  />
);
