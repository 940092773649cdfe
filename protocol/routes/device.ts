/** Login of a command line by a code of the console. Ecosystem X28. */
import type { Route } from '../route.ts';
import * as device from '../schema/device.ts';
import { POST, open, portal } from './kinds.ts';

export const DEVICE_ROUTES = {
  askDevice: {
    ...open('Authentication'),
    status: 201,
    method: POST,
    path: '/v1/auth/device',
    body: device.askDeviceBody,
    reply: device.deviceAsked,
    refusals: ['RATE_LIMIT_EXCEEDED'],
    summary: 'Begin the login of a command line: a code that a person types into the console',
  },
  takeDeviceKey: {
    ...open('Authentication'),
    method: POST,
    path: '/v1/auth/device/token',
    body: device.takeDeviceKeyBody,
    reply: device.deviceTaken,
    refusals: ['RATE_LIMIT_EXCEEDED', 'NOT_FOUND', 'CONFLICT'],
    summary: 'Ask, every five seconds, whether the code was approved; its API key is shown once',
  },
  approveDevice: {
    ...portal('Authentication', 'viewer'),
    method: POST,
    path: '/v1/auth/device/approve',
    body: device.approveDeviceBody,
    reply: device.deviceApproved,
    refusals: ['TOTP_REQUIRED', 'RATE_LIMIT_EXCEEDED', 'NOT_FOUND', 'CONFLICT'],
    summary: 'Approve the code of a command line of yours; live needs a fresh second factor',
  },
} as const satisfies Record<string, Route>;
