// Two threads read an LMDB database, each with a transaction of its own, whose slot it writes before and after each read.
// Usage: reader_slots FOLDER READS

#include <lmdb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kReaders = 2, kKeys = 200 };

static MDB_dbi database;
static unsigned long reads;

struct reader {
  MDB_txn* transaction;
  unsigned long sum;
};

static void demand(int result) {
  if (result == 0) return;
  fprintf(stderr, "reader_slots: %s\n", mdb_strerror(result));
  exit(1);
}

static void* read_values(void* mine) {
  struct reader* reader = mine;
  for (unsigned long i = 0; i < reads; i++) {
    const unsigned number = (unsigned)(i * 7 % kKeys);
    MDB_val key = {sizeof number, (void*)&number}, data;
    unsigned value;
    mdb_txn_reset(reader->transaction);
    demand(mdb_txn_renew(reader->transaction));
    demand(mdb_get(reader->transaction, database, &key, &data));
    memcpy(&value, data.mv_data, sizeof value);
    reader->sum += value;
  }
  return NULL;
}

int main(int count, char** arguments) {
  MDB_env* environment;
  MDB_txn* transaction;
  pthread_t other;
  struct reader readers[kReaders] = {{0}};
  if (count < 3) return 2;
  reads = strtoul(arguments[2], NULL, 10);
  demand(mdb_env_create(&environment));
  demand(mdb_env_open(environment, arguments[1], MDB_NOSYNC | MDB_NOTLS, 0600));
  demand(mdb_txn_begin(environment, NULL, 0, &transaction));
  demand(mdb_dbi_open(transaction, NULL, MDB_INTEGERKEY, &database));
  for (unsigned number = 0; number < kKeys; number++) {
    MDB_val key = {sizeof number, &number}, data = {sizeof number, &number};
    demand(mdb_put(transaction, database, &key, &data, 0));
  }
  demand(mdb_txn_commit(transaction));

  for (int i = 0; i < kReaders; i++) demand(mdb_txn_begin(environment, NULL, MDB_RDONLY, &readers[i].transaction));
  pthread_create(&other, NULL, read_values, &readers[1]);
  read_values(&readers[0]);
  pthread_join(other, NULL);
  printf("sums %lu %lu\n", readers[0].sum, readers[1].sum);
  for (int i = 0; i < kReaders; i++) mdb_txn_abort(readers[i].transaction);
  mdb_env_close(environment);
  return 0;
}
