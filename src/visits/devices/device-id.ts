import {isStorable} from '../../platform/http/storable.ts';

/** Bounds of the length of a device id, in UTF-16 units (contract/sdk 2). */
export const MIN_DEVICE_ID = 8;
export const MAX_DEVICE_ID = 100;

/** Whether an app may have assigned this device id. Visits ask it without the schemas of `device-fields.ts`. */
export const isDeviceId = (value: unknown): value is string =>
	typeof value === 'string' && value.length >= MIN_DEVICE_ID && value.length <= MAX_DEVICE_ID && isStorable(value);
