/** Whose data is asked for: one device of an organization, or who its app says uses it (`/sdk/identity`). */
export type DataSubject = {kind: 'device'; deviceId: string} | {kind: 'user'; externalUserId: string};

/** The subject as an answer names it. */
export const subjectJson = (subject: DataSubject): {deviceId: string} | {externalUserId: string} =>
	subject.kind === 'device' ? {deviceId: subject.deviceId} : {externalUserId: subject.externalUserId};

/** What a subject is found by, in the forms in which it is stored. */
export type SubjectKeys = {
	organizationId: string;
	deviceIds: string[];
	/** Keyed hashes of the device ids, under every secret that is still kept. */
	deviceKeys: Buffer[];
};
