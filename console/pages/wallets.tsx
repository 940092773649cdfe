/** Addresses, transactions, and what a text finds of them. */
import '../ui/together.ts';
export { Chains } from './chains.tsx';
export { Search } from './search.tsx';
export { Addresses } from './addresses.tsx';
export { AddressDetail } from './address-detail.tsx';
export { Transactions } from './transactions.tsx';
export { TransactionDetail } from './transaction-detail.tsx';
