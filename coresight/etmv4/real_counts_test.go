package etmv4

import (
	"fmt"
	"strings"
)

// kindCounts are how many packets there are of each kind.
type kindCounts [NumKinds]int

func (n kindCounts) String() string {
	var b strings.Builder
	for k, c := range n {
		if c > 0 {
			fmt.Fprintf(&b, "%d %v, ", c, Kind(k))
		}
	}
	return strings.TrimSuffix(b.String(), ", ")
}

// recordedKinds are the packets of the recordings from the first A-Sync on, as
// OpenCSD 1.8.0's trc_pkt_lister lists them (a55-test-tpiu with -dstream_format).
// It reads on behind a byte that starts no packet. Here all from such a byte to the
// next A-Sync is one bad packet, so what it lists there is not counted. Its
// TRANS_FAIL is an Exception here.
//
// The bad ones: infrastructure is an ETMv4's trace called an ETE's, which has no
// packet 07; it has the same bytes as juno_r1_1. In a55-test-tpiu a byte a5 follows
// four of the Trace Infos. The recording juno-ret-stck is cut inside of a packet.
var recordedKinds = map[string]kindCounts{
	"001-ack_test/ETB_1/ETE_0_s1": {
		ASync: 1, TraceInfo: 1, TraceOn: 97, Exception: 196, Context: 150, AddrCtxt32: 97, AddrMatch: 45,
		AddrShort: 1174, Addr32: 910, AtomF1: 714, AtomF2: 693, AtomF3: 5401, AtomF4: 257, AtomF5: 126, AtomF6: 353,
	},
	"002-ack_test_scr/ETB_1/ETE_0_s1": {
		ASync: 1, TraceInfo: 1, TraceOn: 3, Exception: 7, Context: 2, AddrCtxt32: 3, AddrMatch: 5, AddrShort: 74,
		Addr32: 54, SrcShort: 6, Src32: 6, AtomF1: 44, AtomF2: 21, AtomF3: 225, AtomF4: 31, AtomF5: 12, AtomF6: 27,
	},
	"a55-test-tpiu/DSTREAM_0/CSETM_0": {
		Bad: 4, ASync: 17, TraceInfo: 17, TraceOn: 1, AddrCtxt64: 13, Addr64: 1, AtomF1: 1, AtomF6: 25875,
	},
	"a57_single_step/CSTMC_TRACE_FIFO/CSETM_0": {
		ASync: 1, TraceInfo: 1, Timestamp: 1, TraceOn: 1, Exception: 1, Context: 2, Addr64: 2,
	},
	"armv8_1m_branches/etr_0/etm_0": {ASync: 1, TraceInfo: 1, AddrCtxt32: 1, AddrShort: 1, AtomF3: 8, AtomF5: 1, AtomF6: 1},
	"bugfix-exact-match/etr_0/etm_1": {
		ASync: 227, TraceInfo: 227, TraceOn: 33, Exception: 34, AddrCtxt64: 294, AddrMatch: 33734, AddrShort: 101079,
		Addr32: 27699, Addr64: 260, AtomF1: 53756, AtomF2: 48214, AtomF3: 255582, AtomF4: 46697, AtomF5: 82041,
		AtomF6: 37863,
	},
	"ete-bc-instr/ETB_1/ETE_0_s1": {ASync: 1, TraceInfo: 1, TraceOn: 1, AddrCtxt32: 1, Addr32: 2, AtomF2: 2},
	"ete-ite-instr/ETB_1/ETE_0_s1": {
		ASync: 1, TraceInfo: 1, TraceOn: 1, ITE: 1, AddrCtxt32: 1, AddrShort: 5, Addr32: 3, AtomF1: 5, AtomF2: 3,
		AtomF3: 1,
	},
	"ete-ite-instr/ETB_2/ETE_0_s2": {
		ASync: 1, TraceInfo: 1, TraceOn: 1, ITE: 1, AddrCtxt32: 1, AddrShort: 4, Addr32: 1, AtomF1: 3, AtomF2: 3,
		AtomF3: 1,
	},
	"ete-wfet/ETB_1/ETE_0_s1": {
		ASync: 1, TraceInfo: 1, TraceOn: 1, Exception: 1, AddrCtxt32: 1, AddrMatch: 2, AddrShort: 11, Addr32: 10,
		AtomF1: 2, AtomF2: 2, AtomF3: 6, AtomF4: 7, AtomF6: 31,
	},
	"ete_ip/ETB_1/ETE_0_s1": {
		ASync: 1, TraceInfo: 1, TraceOn: 4, Exception: 9, Context: 2, AddrCtxt32: 4, AddrMatch: 23, AddrShort: 27,
		Addr32: 45, SrcShort: 3, AtomF1: 18, AtomF2: 25, AtomF3: 42, AtomF4: 16, AtomF5: 77, AtomF6: 11,
	},
	"ete_mem/ETB_1/ETE_0_s1": {
		ASync: 1, TraceInfo: 1, TraceOn: 3, Exception: 17, AddrCtxt32: 3, AddrMatch: 44, AddrShort: 120, Addr32: 143,
		Addr64: 8, AtomF1: 156, AtomF2: 79, AtomF3: 378, AtomF4: 38, AtomF5: 22, AtomF6: 44,
	},
	"ete_spec_1/ETB_1/ETE_0_s1": {
		ASync: 1, TraceInfo: 1, TraceOn: 2, Exception: 2, Commit: 18, CancelF1: 5, Mispredict: 3, AddrCtxt32: 2,
		AddrMatch: 1, AddrShort: 8, Addr32: 9, AtomF1: 3, AtomF2: 2, AtomF3: 4, AtomF4: 10, AtomF6: 5,
	},
	"ete_spec_2/ETB_1/ETE_0_s1": {
		ASync: 1, Discard: 1, TraceInfo: 1, TraceOn: 2, Exception: 2, Commit: 20, CancelF2: 3, AddrCtxt32: 2,
		AddrMatch: 1, AddrShort: 8, Addr32: 9, AtomF1: 6, AtomF2: 2, AtomF3: 4, AtomF4: 5, AtomF6: 6,
	},
	"ete_spec_3/ETB_1/ETE_0_s1": {
		ASync: 1, Discard: 1, TraceInfo: 1, TraceOn: 2, Exception: 2, Commit: 20, CancelF2: 3, AddrCtxt32: 2,
		AddrMatch: 1, AddrShort: 8, Addr32: 9, AtomF1: 4, AtomF2: 2, AtomF3: 4, AtomF4: 5, AtomF6: 6,
	},
	"event_test/ETB_1/ETE_0_s1": {ASync: 1, Event: 1},
	"feat_cmpbr/ETB_1/ETE_0_s1": {ASync: 1, TraceInfo: 1, TraceOn: 1, AddrCtxt32: 1, Addr32: 2, AtomF2: 2},
	"feat_cmpbr/ETB_2/ETE_0_s2": {
		ASync: 1, TraceInfo: 1, TraceOn: 1, AddrCtxt32: 1, AddrShort: 4, Addr32: 2, AtomF1: 3, AtomF2: 2, AtomF3: 2,
	},
	"feat_cmpbr/ETB_3/ETE_0_s3": {ASync: 1, TraceInfo: 1, TraceOn: 1, AddrCtxt32: 1, Addr32: 1, AtomF2: 2},
	"feat_cmpbr/ETB_4/ETE_0_s4": {
		ASync: 1, TraceInfo: 1, TraceOn: 1, AddrCtxt32: 1, AddrShort: 1, Addr32: 2, AtomF1: 1, AtomF2: 1, AtomF3: 1,
	},
	"feat_cmpbr/ETB_5/ETE_0_s5": {
		ASync: 1, TraceInfo: 1, TraceOn: 1, AddrCtxt32: 1, AddrShort: 3, Addr32: 4, AtomF1: 5, AtomF2: 2, AtomF3: 2,
	},
	"feat_cmpbr/ETB_6/ETE_0_s6": {
		ASync: 1, TraceInfo: 1, TraceOn: 1, AddrCtxt32: 1, AddrShort: 1, Addr32: 1, AtomF1: 1, AtomF2: 1, AtomF3: 1,
	},
	"infrastructure/ETB_0/ETM_0": {
		Bad: 29, ASync: 31, TraceInfo: 31, TraceOn: 27, Exception: 27, AddrCtxt64: 33, AddrMatch: 267, AddrShort: 3121,
		Addr32: 2042, Addr64: 58, AtomF1: 2497, AtomF2: 1697, AtomF3: 3997, AtomF4: 458, AtomF5: 491, AtomF6: 687,
	},
	"infrastructure/ETB_0/ETM_1": {
		Bad: 1, ASync: 3, TraceInfo: 3, TraceOn: 2, AddrCtxt64: 2, AddrShort: 13, Addr32: 26, Addr64: 4, AtomF1: 18,
		AtomF2: 15, AtomF3: 23, AtomF4: 2, AtomF5: 3, AtomF6: 2,
	},
	"infrastructure/ETB_0/ETM_2": {ASync: 1, TraceInfo: 1, Addr64: 1},
	"infrastructure/ETB_0/ETM_3": {
		Bad: 1, ASync: 4, TraceInfo: 4, TraceOn: 3, Exception: 1, AddrCtxt64: 3, AddrShort: 21, Addr32: 37, Addr64: 6,
		AtomF1: 26, AtomF2: 21, AtomF3: 32, AtomF4: 2, AtomF5: 5, AtomF6: 6,
	},
	"infrastructure/ETB_0/ETM_5": {
		Bad: 1, ASync: 1, TraceInfo: 1, Exception: 1, AddrCtxt64: 1, AddrShort: 61, Addr32: 37, Addr64: 1, AtomF1: 41,
		AtomF2: 25, AtomF3: 88, AtomF4: 16, AtomF5: 11, AtomF6: 10,
	},
	"init-short-addr/CSTMC_TRACE_FIFO/CSETM_0": {
		ASync: 1, TraceInfo: 1, TraceOn: 2, Ignore: 1, Context: 2, AddrMatch: 2, AddrShort: 3, AtomF1: 6, AtomF2: 4,
		AtomF3: 2, AtomF6: 5,
	},
	"juno-ret-stck/ETB_0/ETM_0": {
		ASync: 8, TraceInfo: 8, TraceOn: 5, Exception: 21, ExceptionReturn: 21, AddrCtxt64: 40, AddrMatch: 715,
		AddrShort: 493, Addr32: 707, Addr64: 53, AtomF1: 631, AtomF2: 479, AtomF3: 7307, AtomF4: 1333, AtomF5: 1531,
		AtomF6: 3971,
	},
	"juno-ret-stck/ETB_0/ETM_1": {
		Bad: 1, ASync: 2, TraceInfo: 2, TraceOn: 2, Exception: 2, ExceptionReturn: 2, AddrCtxt64: 2, AddrMatch: 2,
		AddrShort: 93, Addr32: 121, Addr64: 4, AtomF1: 81, AtomF2: 73, AtomF3: 384, AtomF4: 52, AtomF5: 83,
		AtomF6: 127,
	},
	"juno-ret-stck/ETB_0/ETM_2": {ASync: 1, TraceInfo: 1, Addr64: 1},
	"juno-ret-stck/ETB_0/ETM_4": {
		ASync: 7, TraceInfo: 7, TraceOn: 24, Exception: 27, ExceptionReturn: 28, AddrCtxt64: 34, AddrMatch: 127,
		AddrShort: 1043, Addr32: 1730, Addr64: 34, AtomF1: 1095, AtomF2: 1054, AtomF3: 6581, AtomF4: 1246,
		AtomF5: 2848, AtomF6: 2498,
	},
	"juno-uname-001/ETB_0/ETM_0": {
		ASync: 14, TraceInfo: 14, Exception: 61, ExceptionReturn: 61, AddrCtxt64: 136, AddrMatch: 861, AddrShort: 6338,
		Addr32: 2707, Addr64: 14, AtomF1: 3323, AtomF2: 3223, AtomF3: 13377, AtomF4: 2339, AtomF5: 3208, AtomF6: 1312,
	},
	"juno-uname-002/ETB_0/ETM_3": {
		ASync: 65, Overflow: 43, TraceInfo: 65, TraceOn: 43, Exception: 46, ExceptionReturn: 38, AddrCtxt64: 143,
		AddrMatch: 3544, AddrShort: 6155, Addr32: 6504, Addr64: 66, AtomF1: 5663, AtomF2: 4395, AtomF3: 17952,
		AtomF4: 2295, AtomF5: 8261, AtomF6: 2303,
	},
	"juno_r1_1/ETB_0/ETM_0": {
		ASync: 31, TraceInfo: 31, TraceOn: 27, Exception: 48, ExceptionReturn: 49, AddrCtxt64: 74, AddrMatch: 652,
		AddrShort: 5611, Addr32: 3173, Addr64: 204, AtomF1: 4364, AtomF2: 2978, AtomF3: 7990, AtomF4: 1139,
		AtomF5: 1346, AtomF6: 1519,
	},
	"juno_r1_1/ETB_0/ETM_1": {
		ASync: 3, TraceInfo: 3, TraceOn: 2, ExceptionReturn: 1, AddrCtxt64: 2, AddrMatch: 2, AddrShort: 31, Addr32: 36,
		Addr64: 4, AtomF1: 30, AtomF2: 25, AtomF3: 59, AtomF4: 11, AtomF5: 23, AtomF6: 16,
	},
	"juno_r1_1/ETB_0/ETM_2": {ASync: 1, TraceInfo: 1, Addr64: 1},
	"juno_r1_1/ETB_0/ETM_3": {
		ASync: 4, TraceInfo: 4, TraceOn: 3, Exception: 1, ExceptionReturn: 1, AddrCtxt64: 3, AddrMatch: 2,
		AddrShort: 39, Addr32: 47, Addr64: 6, AtomF1: 41, AtomF2: 28, AtomF3: 68, AtomF4: 10, AtomF5: 26, AtomF6: 22,
	},
	"juno_r1_1/ETB_0/ETM_5": {
		ASync: 1, TraceInfo: 1, Exception: 2, ExceptionReturn: 3, AddrCtxt64: 4, AddrMatch: 2, AddrShort: 308,
		Addr32: 116, Addr64: 4, AtomF1: 175, AtomF2: 127, AtomF3: 372, AtomF4: 50, AtomF5: 50, AtomF6: 43,
	},
	"maxspec0_commopt1/ETB_1/ETE_0_s1": {
		ASync: 1, TraceInfo: 1, TraceOn: 7, Exception: 16, CycleF2: 38, CycleF1: 7, CycleF3: 245, Context: 14,
		AddrCtxt32: 7, AddrMatch: 177, AddrShort: 690, Addr32: 132, AtomF1: 729, AtomF2: 162, AtomF3: 168, AtomF4: 10,
		AtomF5: 12,
	},
	"maxspec78_commopt0/ETB_1/ETE_0_s1": {
		ASync: 1, TraceInfo: 1, TraceOn: 7, Exception: 16, CycleF2: 236, CycleF1: 7, CycleF3: 47, Commit: 2,
		Context: 14, AddrCtxt32: 7, AddrMatch: 177, AddrShort: 690, Addr32: 132, AtomF1: 729, AtomF2: 162, AtomF3: 168,
		AtomF4: 10, AtomF5: 12,
	},
	"pauth_lr/ETB_1/ETE_0_s1": {
		ASync: 1, TraceInfo: 1, TraceOn: 4, Exception: 3, AddrCtxt32: 4, AddrMatch: 1, AddrShort: 6, Addr32: 20,
		AtomF1: 12, AtomF2: 17, AtomF3: 5, AtomF4: 2, AtomF6: 4,
	},
	"pauth_lr/ETB_2/ETE_0_s2": {
		ASync: 1, TraceInfo: 1, TraceOn: 4, Exception: 3, AddrCtxt32: 4, AddrMatch: 1, AddrShort: 9, Addr32: 21,
		AtomF1: 15, AtomF2: 18, AtomF3: 6, AtomF4: 2, AtomF6: 4,
	},
	"pauth_lr/ETB_3/ETE_0_s3": {
		ASync: 1, TraceInfo: 1, TraceOn: 4, Exception: 3, AddrCtxt32: 4, AddrMatch: 1, AddrShort: 6, Addr32: 19,
		AtomF1: 12, AtomF2: 17, AtomF3: 5, AtomF4: 2, AtomF6: 4,
	},
	"pauth_lr_Rm/ETB_1/ETE_0_s1": {
		ASync: 1, TraceInfo: 1, TraceOn: 4, Exception: 3, AddrCtxt32: 4, AddrShort: 7, Addr32: 17, AtomF1: 11,
		AtomF2: 16, AtomF3: 8, AtomF4: 2, AtomF6: 2,
	},
	"pauth_lr_Rm/ETB_2/ETE_0_s2": {
		ASync: 1, TraceInfo: 1, TraceOn: 4, Exception: 3, AddrCtxt32: 4, AddrShort: 11, Addr32: 17, AtomF1: 14,
		AtomF2: 17, AtomF3: 9, AtomF4: 2, AtomF6: 2,
	},
	"pauth_lr_Rm/ETB_3/ETE_0_s3": {
		ASync: 1, TraceInfo: 1, TraceOn: 4, Exception: 3, AddrCtxt32: 4, AddrShort: 7, Addr32: 16, AtomF1: 11,
		AtomF2: 16, AtomF3: 8, AtomF4: 2, AtomF6: 2,
	},
	"q_elem/ETB_1/ETE_0_s1": {
		ASync: 1, TraceInfo: 1, TraceOn: 2, Exception: 2, AddrCtxt32: 2, AddrShort: 104, Addr32: 23, AtomF1: 109,
		AtomF2: 5, AtomF3: 9, AtomF4: 5, AtomF6: 32,
	},
	"q_elem/ETB_2/ETE_0_s2": {
		ASync: 1, TraceInfo: 1, TraceOn: 2, Exception: 2, AddrCtxt32: 2, AddrShort: 106, Addr32: 13, Q: 63,
		AtomF1: 114, AtomF2: 54, AtomF6: 5,
	},
	"rme_test/ETB_1/ETE_0_s1": {
		ASync: 1, TraceInfo: 1, TraceOn: 2, Exception: 7, Context: 9, AddrCtxt32: 2, AddrShort: 31, Addr32: 36,
		AtomF1: 22, AtomF2: 17, AtomF3: 30, AtomF4: 8, AtomF6: 22,
	},
	"rme_test/ETB_2/ETE_0_s2": {
		ASync: 1, TraceInfo: 1, TraceOn: 5, Context: 5, AddrCtxt32: 5, AddrShort: 19, Addr32: 7, AtomF1: 12, AtomF2: 5,
		AtomF3: 21, AtomF4: 5, AtomF6: 2,
	},
	"rme_test/ETB_3/ETE_0_s3": {
		ASync: 1, TraceInfo: 1, TraceOn: 2, Exception: 7, Context: 9, AddrCtxt32: 2, AddrShort: 31, Addr32: 36,
		AtomF1: 22, AtomF2: 17, AtomF3: 30, AtomF4: 8, AtomF6: 22,
	},
	"s_9001/ETB_1/ETE_0_s1": {ASync: 1, TraceInfo: 1, TraceOn: 1, AddrCtxt32: 1, AddrShort: 1, Addr32: 1, AtomF1: 2},
	"s_9001/ETB_2/ETE_0_s2": {
		ASync: 1, TraceInfo: 1, TraceOn: 1, Exception: 1, AddrCtxt32: 1, AddrShort: 14, Addr32: 28, AtomF1: 14,
		AtomF2: 5, AtomF3: 18, AtomF4: 8, AtomF6: 12,
	},
	"src_addr/ETB_1/ETE_0_s1": {
		ASync: 1, TraceInfo: 1, TraceOn: 4, Exception: 9, CycleF2: 208, CycleF1: 12, CycleF3: 280, Context: 2,
		AddrCtxt32: 4, AddrMatch: 4, AddrShort: 209, Addr32: 109, SrcShort: 11, Src32: 9, AtomF1: 291, AtomF2: 238,
		AtomF3: 483, AtomF4: 61, AtomF5: 16, AtomF6: 31,
	},
	"ss_ib_el1ns/ETB_1/ETE_0_s1": {ASync: 1, TraceInfo: 1, TraceOn: 1, AddrCtxt32: 1, AddrShort: 1, Addr32: 1, AtomF1: 2},
	"ss_ib_el1ns/ETB_2/ETE_0_s2": {
		ASync: 1, TraceInfo: 1, TraceOn: 1, AddrCtxt32: 1, AddrShort: 15, Addr32: 30, AtomF1: 14, AtomF2: 7, AtomF3: 4,
		AtomF4: 10, AtomF5: 1, AtomF6: 16,
	},
	"test-file-mem-offsets/ETB_0/ETM_3": {
		ASync: 65, Overflow: 43, TraceInfo: 65, TraceOn: 43, Exception: 46, ExceptionReturn: 38, AddrCtxt64: 143,
		AddrMatch: 3544, AddrShort: 6155, Addr32: 6504, Addr64: 66, AtomF1: 5663, AtomF2: 4395, AtomF3: 17952,
		AtomF4: 2295, AtomF5: 8261, AtomF6: 2303,
	},
	"texit-poe2/ETB_1/ETE_0_s1": {
		ASync: 1, TraceInfo: 1, TraceOn: 9, Exception: 25, CycleF2: 566, CycleF1: 10, CycleF3: 1512, AddrCtxt32: 9,
		AddrMatch: 1753, AddrShort: 4799, Addr32: 1169, AtomF1: 5765, AtomF2: 997, AtomF3: 1285, AtomF4: 31,
		AtomF5: 65,
	},
	"tme_simple/ETB_1/ETE_0_s1": {
		ASync: 1, TraceInfo: 1, TraceOn: 1, TxStart: 1, TxCommit: 1, AddrCtxt32: 1, AddrMatch: 3, AddrShort: 8,
		Addr32: 5, AtomF1: 11, AtomF2: 6, AtomF3: 9,
	},
	"tme_tcancel/ETB_1/ETE_0_s1": {ASync: 1, TraceInfo: 1, TraceOn: 1, Exception: 1, TxStart: 1, AddrCtxt32: 1, Addr32: 1},
	"tme_test/ETB_1/ETE_0_s1": {
		ASync: 1, TraceInfo: 1, TraceOn: 2, Exception: 21, TxStart: 49, TxCommit: 31, AddrCtxt32: 2, AddrMatch: 248,
		AddrShort: 1260, Addr32: 976, AtomF1: 819, AtomF2: 481, AtomF3: 3638, AtomF4: 498, AtomF5: 228, AtomF6: 471,
	},
	"trace_file_cid_vmid/ETB_1/ETE_0_s1": {
		ASync: 1, TraceInfo: 1, TraceOn: 10, Exception: 35, Context: 42, AddrCtxt32: 10, AddrMatch: 112,
		AddrShort: 201, Addr32: 324, AtomF1: 321, AtomF2: 155, AtomF3: 1778, AtomF4: 35, AtomF5: 13, AtomF6: 99,
	},
	"trace_file_vmid/ETB_1/ETE_0_s1": {
		ASync: 1, TraceInfo: 1, TraceOn: 10, Exception: 35, Context: 42, AddrCtxt32: 10, AddrMatch: 112,
		AddrShort: 201, Addr32: 324, AtomF1: 321, AtomF2: 155, AtomF3: 1778, AtomF4: 35, AtomF5: 13, AtomF6: 99,
	},
	"ts_bit64_set/ETB_1/ETE_0_s1": {
		ASync: 1, TraceInfo: 1, Timestamp: 148, TraceOn: 1, AddrCtxt32: 1, TSMarker: 148, AddrMatch: 3, AddrShort: 16,
		Addr32: 12, AtomF1: 1, AtomF2: 6, AtomF3: 3, AtomF4: 10, AtomF5: 1, AtomF6: 17,
	},
	"ts_marker/ETB_1/ETE_0_s1": {
		ASync: 1, TraceInfo: 1, Timestamp: 223, TraceOn: 3, Exception: 2, AddrCtxt32: 3, TSMarker: 223, AddrShort: 6,
		Addr32: 29, AtomF1: 10, AtomF2: 4, AtomF3: 3, AtomF4: 10, AtomF6: 34,
	},
}
