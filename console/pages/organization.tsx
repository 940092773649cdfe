/** What is the organization's: keys, people, plan. */
import '../ui/together.ts';
export { ApiKeys } from './api-keys.tsx';
export { Members } from './members.tsx';
export { SsoSettings } from './sso-settings.tsx';
export { Billing } from './billing.tsx';
export { Settings } from './settings.tsx';
