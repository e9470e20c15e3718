// Receives Oplink's webhooks, without a library: SECRET=whsec_… go run receiver.go
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

func main() {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(os.Getenv("SECRET"), "whsec_"))
	if err != nil || len(key) == 0 {
		log.Fatal("SECRET is missing or not base64")
	}
	port := os.Getenv("PORT")
	if port == "" {
		port = "8080"
	}
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		id, sent := r.Header.Get("webhook-id"), r.Header.Get("webhook-timestamp")
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "%s.%s.%s", id, sent, body)
		own := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
		seconds, _ := strconv.ParseInt(sent, 10, 64)
		for _, given := range strings.Split(r.Header.Get("webhook-signature"), " ") {
			if hmac.Equal([]byte(own), []byte(given)) && time.Since(time.Unix(seconds, 0)).Abs() < 5*time.Minute {
				// The same delivery may come twice: keep the id, and answer before long work.
				fmt.Println(id, string(body))
				w.WriteHeader(http.StatusNoContent)
				return
			}
		}
		w.WriteHeader(http.StatusUnauthorized)
	})
	listener, err := net.Listen("tcp", ":"+port)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening on", port)
	log.Fatal(http.Serve(listener, nil))
}
