import {readFileSync} from 'node:fs';
import path from 'node:path';
import Joi from 'joi';
import {packageRoot} from '../package-root.ts';

const DAY_MS = 24 * 3600 * 1000;

/** `config/retention.json`: retention in days. */
export type Retention = {
	/** The data and outcome of a match request. */
	matchAttemptDays: number;
	/** A match request without an organization: anybody may send these, and only the operator reads them. */
	unownedAttemptDays: number;
	/** A record of the audit log. */
	auditDays: number;
	/** An app's event, from its time; reports still count it. */
	eventDays: number;
	/** A device, from when it was last seen. */
	deviceDays: number;
};

const days = Joi.number().integer().min(1).required();
const schema = Joi.object<Retention>({
	matchAttemptDays: days,
	unownedAttemptDays: days,
	auditDays: days,
	eventDays: days,
	deviceDays: days,
}).required();

let shipped: Retention | null = null;

/** The policy of `config/retention.json`, read on first use. @throws with every fault of the file. */
export const retention = (): Retention => {
	shipped ??= Joi.attempt(
		JSON.parse(readFileSync(path.join(packageRoot, 'config', 'retention.json'), 'utf8')),
		schema,
	) as Retention;
	return shipped;
};

/** The time that many days before. */
export const daysBefore = (now: Date, days: number): Date => new Date(now.getTime() - days * DAY_MS);
