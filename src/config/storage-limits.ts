import {readFileSync} from 'node:fs';
import path from 'node:path';
import Joi from 'joi';
import {packageRoot} from '../package-root.ts';

/** `config/storage.json`: how much is stored of what anybody may send without end. */
export type StorageLimits = {
	/** Referrers of an organization's day (UTC) that are counted one by one; further ones are counted together. */
	referrersPerDay: number;
	/** Devices that `/data` registers of one organization in a day (UTC). */
	visitDevicesPerOrganizationAndDay: number;
	/** Days after which a device is forgotten of which nothing but `/data` was heard. */
	visitDeviceDays: number;
};

const amount = Joi.number().integer().min(1).required();
const schema = Joi.object<StorageLimits>({
	referrersPerDay: amount,
	visitDevicesPerOrganizationAndDay: amount,
	visitDeviceDays: amount,
}).required();

let shipped: StorageLimits | null = null;

/** The limits of `config/storage.json`, read at the first use. @throws with every fault of the file. */
export const storageLimits = (): StorageLimits => {
	shipped ??= Joi.attempt(
		JSON.parse(readFileSync(path.join(packageRoot, 'config', 'storage.json'), 'utf8')),
		schema,
	) as StorageLimits;
	return shipped;
};
