import {readFileSync} from 'node:fs';
import path from 'node:path';
import Joi from 'joi';
import {packageRoot} from '../package-root.ts';

/** `config/storage.json`: storage limits for data that anybody may send endlessly. */
export type StorageLimits = {
	/** Referrers per organization and day (UTC) that are counted one by one; others are counted together. */
	referrersPerDay: number;
	/** Devices per organization and day (UTC) that `/data` registers. */
	visitDevicesPerOrganizationAndDay: number;
	/** Days until a device known only from `/data` is deleted. */
	visitDeviceDays: number;
};

const amount = Joi.number().integer().min(1).required();
const schema = Joi.object<StorageLimits>({
	referrersPerDay: amount,
	visitDevicesPerOrganizationAndDay: amount,
	visitDeviceDays: amount,
}).required();

let shipped: StorageLimits | null = null;

/** The limits of `config/storage.json`, read on first use. @throws with every fault of the file. */
export const storageLimits = (): StorageLimits => {
	shipped ??= Joi.attempt(
		JSON.parse(readFileSync(path.join(packageRoot, 'config', 'storage.json'), 'utf8')),
		schema,
	) as StorageLimits;
	return shipped;
};
