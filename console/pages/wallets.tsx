/** Addresses and transactions. */
import '../ui/together.ts';
export { Addresses } from './addresses.tsx';
export { AddressDetail } from './address-detail.tsx';
export { Transactions } from './transactions.tsx';
export { TransactionDetail } from './transaction-detail.tsx';
