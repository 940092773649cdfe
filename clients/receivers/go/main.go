// A receiver on net/http. FLOCK_SECRETS: all secrets in use, apart by blanks; PORT; DATABASE_URL has the table of table.sql.
package main

import (
	"database/sql"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"

	"flock.example/flock"
	_ "github.com/lib/pq"
)

// The newest word about a deposit stands, however often and in whatever order its events come.
const store = `
	insert into deposits (credit_key, incarnation, is_reversed, chain, token_contract, user_ref, address, amount)
	values ($1, $2, $3, $4, $5, $6, $7, $8)
	on conflict (credit_key) do update set incarnation = excluded.incarnation, is_reversed = excluded.is_reversed
	where (deposits.incarnation, deposits.is_reversed) < (excluded.incarnation, excluded.is_reversed)`

func main() {
	db, err := sql.Open("postgres", os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	db.SetMaxOpenConns(8)
	http.HandleFunc("/hooks", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20)) // what was cut is not signed
		event, err := flock.VerifyWebhook(body, r.Header, strings.Split(os.Getenv("FLOCK_SECRETS"), " ")...)
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
		if event.Event == flock.EventDepositConfirmed || event.Event == flock.EventDepositReversed {
			var data flock.DepositData
			key, err := event.CreditKey()
			if err == nil {
				err = event.Decode(&data)
			}
			if err == nil {
				_, err = db.ExecContext(r.Context(), store, key, data.Incarnation, event.Event == flock.EventDepositReversed,
					data.Chain, data.TokenContract, data.UserRef, data.Address, data.Amount)
			}
			if err != nil { // not stored: the delivery is sent again
				http.Error(w, "not stored", http.StatusInternalServerError)
				return
			}
		}
		w.WriteHeader(http.StatusNoContent)
	})
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv("PORT"))
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("listening %d", listener.Addr().(*net.TCPAddr).Port)
	log.Fatal(http.Serve(listener, nil))
}
