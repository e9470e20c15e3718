import Joi from 'joi';
import {DAY_MS} from '../clock.ts';
import {readConfigFile} from '../package-root.ts';

/** A file of `config/` with a positive integer per name, read at the first use. @throws with every fault of the file. */
const policy = <Name extends string>(file: string, ...names: Name[]): (() => Record<Name, number>) => {
	const amount = Joi.number().integer().min(1).required();
	const schema = Joi.object(Object.fromEntries(names.map((name) => [name, amount]))).required();
	let read: Record<Name, number> | null = null;
	return () => {
		read ??= Joi.attempt(readConfigFile(file), schema) as Record<Name, number>;
		return read;
	};
};

/** Retention of records in days. */
export const retention = policy(
	'retention.json',
	'matchAttemptDays',
	'countedPhoneDays',
	/** Attempts of no organization, which any caller can send and only the operator reads. */
	'unownedAttemptDays',
	'auditDays',
	/** After an event happened; reports keep counting it. */
	'eventDays',
	/** After a device was last seen. */
	'deviceDays',
	/** Days (UTC) of counts of codes that no link has. */
	'unknownCodeDays',
	'appCountDays',
	/** Webhook deliveries with their attempts, and their bodies after success. */
	'webhookDeliveryDays',
	'webhookBodyDays',
);

/** Storage limits for data that any caller can send without end. */
export const storageLimits = policy(
	'storage.json',
	/** Maximum values of a dimension that are counted one by one, for an organization and day (UTC); further ones are `other`. */
	'valuesPerDay',
	/** Maximum unknown codes that are counted separately, for a custom domain and day (UTC); further ones are counted together. */
	'unknownCodesPerDay',
	/** Maximum devices that `/data` registers, for an organization and day (UTC). */
	'visitDevicesPerOrganizationAndDay',
	/** Days until a device that only `/data` registered is deleted. */
	'visitDeviceDays',
);

/** The time that many days before `now`. */
export const daysBefore = (now: Date, days: number): Date => new Date(now.getTime() - days * DAY_MS);
